//! Faults of the connection.

use super::{AWAY, Ends, Fault, LATE};

pub(super) const CONNECTION: &[(&str, Fault, Ends)] = &[
    ("closed at once", Fault::ClosedAtOnce, AWAY),
    ("reset", Fault::Reset, AWAY),
    ("hang", Fault::Hang, LATE),
    (
        "closed in the head",
        Fault::Bytes(b"HTTP/1.1 200 OK\r\nContent-Le"),
        AWAY,
    ),
    ("cut off", Fault::CutOff, AWAY),
    ("reset in the body", Fault::ResetInBody, AWAY),
    ("drip", Fault::Drip, LATE),
    ("drip in the body", Fault::DripBody, LATE),
    ("TLS", Fault::Bytes(&[0x15, 3, 3, 0, 2, 2, 0x46]), AWAY),
    ("SSH", Fault::Bytes(b"SSH-2.0-OpenSSH_9.6\r\n"), AWAY),
];
