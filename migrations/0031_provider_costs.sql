-- What providers cost: requests, tokens and units by day, as workers count them. Operators see it; it is close to a bill, and
-- none: a worker that is killed has not told its last minute.
create table provider_costs (
    -- As in providers.name. It stays when the provider is removed.
    provider text not null,
    -- In UTC.
    day date not null,
    -- text_requests, image_requests, input_tokens, output_tokens, or the name of a unit that the provider charges.
    what text not null,
    amount bigint not null check (amount >= 0),
    primary key (provider, day, what)
);
