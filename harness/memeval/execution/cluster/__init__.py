"""Runs scenarios on the machines of a Dask cluster."""
