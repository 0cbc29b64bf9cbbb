"""A control of gaming: an adapter that knows the generator's templates."""
