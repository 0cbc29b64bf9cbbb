"""The run archive in a folder or a bucket: content-addressed and immutable, with digests checked both ways."""
