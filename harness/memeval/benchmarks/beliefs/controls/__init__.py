"""Controls of gaming: adapters that know the public wording or the public data, and adapters that return too much."""
