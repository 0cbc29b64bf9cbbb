"""Shipped adapter classes that start a server and call it. They run in the system's sandbox, like other adapters.

Each file needs only the standard library of Python 3.9 or later, and imports the files beside it by their bare names:
the worker adds this folder to ``sys.path``.
"""
