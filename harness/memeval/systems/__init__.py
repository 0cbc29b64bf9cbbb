"""Runs a system in a separate process and calls it.

A system is foreign code: it may raise, hang, crash, flood its output, or search the machine. It only receives sessions,
questions and times. Each of its errors becomes a :class:`memeval.systems.errors.SystemFailure` with a message.
"""
