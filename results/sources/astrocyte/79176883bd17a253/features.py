"""What can be switched in Astrocyte's pipeline of version 0.22.0, by the names that ``submission.toml`` has for it."""

from __future__ import annotations

from typing import Any

from astrocyte.config import AstrocyteConfig
from astrocyte.testing.in_memory import InMemoryDocumentStore, InMemoryGraphStore

STORES = {"documents": ("document_store", InMemoryDocumentStore), "graph": ("graph_store", InMemoryGraphStore)}
"""Stores beside that of vectors: of whole texts, for keywords; of links, without which none is made or followed."""

PIPELINE = {
    "temporal": "enable_temporal_retrieval",
    "intent": "enable_intent_aware_recall",
    "multi_query": "enable_multi_query_expansion",
    "observations": "enable_observation_consolidation",
    "hyde": "enable_hyde",
}
"""Arguments of the pipeline."""

CONFIGURATION = {
    "query_analyzer": "query_analyzer.enabled",
    "structured_facts": "structured_fact_extraction.enabled",
    "agentic_reflect": "agentic_reflect.enabled",
    "causal_links": "causal_links.enabled",
    "semantic_links": "semantic_link_graph.enabled",
    "link_expansion": "spreading_activation.enabled",
    "abstention": "adversarial_defense.abstention_enabled",
    "adversarial_prompt": "adversarial_defense.adversarial_prompt_enabled",
    "premise_check": "adversarial_defense.premise_verification_enabled",
}
"""Switches of the configuration, each in its block."""

SHIPPED = {"documents": True}
"""What is other than off, or than the pipeline's own default, where nothing is said."""


class Features:
    """What is switched on and off; what is not named is as Astrocyte ships it.

    Args:
        switches: by name.
    """

    def __init__(self, switches: dict[str, bool]) -> None:
        if unknown := sorted(set(switches).difference(STORES, PIPELINE, CONFIGURATION)):
            raise TypeError(f"There is nothing called {', '.join(unknown)} to switch.")
        self.switches = {**SHIPPED, **switches}

    def configure(self, config: AstrocyteConfig) -> None:
        """Switch what stands in the configuration."""
        for name, place in CONFIGURATION.items():
            if name in self.switches:
                block, _, switch = place.partition(".")
                setattr(getattr(config, block), switch, self.switches[name])

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the pipeline, with new stores."""
        stores = {place: make() for name, (place, make) in STORES.items() if self.switches.get(name)}
        return stores | {place: self.switches[name] for name, place in PIPELINE.items() if name in self.switches}
