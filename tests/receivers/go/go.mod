module gatehouse/receiver

go 1.19
