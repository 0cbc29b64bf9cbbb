"""A file of suites, as a user writes it."""

ENTRY = """
[[suites.benchmarks]]
benchmark = "beliefs@2"
protocol = "judge"
tier = "full"
reader = "extractive@2"
judge = "rules@3"
ceiling = "oracle"
"""
SUITE = '[[suites]]\nid = "mine@1"\ntitle = "Mine"\nsummary = "What I need."\n'
