"""Shipped adapter classes that start a server and speak to it. They run inside the system's sandbox, as adapters do.

Each file needs nothing but the standard library of Python 3.9 or later, and imports its neighbours by their bare names:
the worker puts this folder on the module path.
"""
