-- After how many days without a new verdict a site's items are removed, with all that belongs to them. Null: never.

alter table sites
add column item_retention_days integer
constraint sites_item_retention_days_check check (item_retention_days between 1 and 3650);
