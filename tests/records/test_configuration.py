"""Product and configuration, as people read them."""

import pytest

from memeval.records.submission import Configuration, Product, Submission, configuration_text

MEM0 = Product(name="mem0", package="mem0ai", version="2.2.1")
VERBATIM = Configuration(model="no LLM", embedder="MiniLM", mode="verbatim")


@pytest.mark.parametrize(
    ("product", "configuration", "text"),
    [
        (MEM0, VERBATIM, "mem0 2.2.1 · verbatim, MiniLM, no LLM"),
        (MEM0, None, "mem0 2.2.1"),
        (None, VERBATIM, "Acme 7 · verbatim, MiniLM, no LLM"),
        (MEM0.model_copy(update={"version": None}), Configuration(mode="verbatim"), "mem0 7 · verbatim"),
        (MEM0, Configuration(caveats=("slow",)), "mem0 2.2.1"),
        (None, None, None),
    ],
)
def test_a_product_has_one_text(product: Product | None, configuration: Configuration | None, text: str | None) -> None:
    assert configuration_text("Acme", "7", product, configuration) == text


def submission(**more: object) -> Submission:
    variants = {
        "cloud": {"summary": "C.", "parameters": {"k": 1}, "configuration": {"model": "gpt-4o", "caveats": []}},
        "plain": {"summary": "P.", "parameters": {"k": 2}},
    }
    data = {"slug": "acme", "name": "Acme", "version": "1", "variants": variants, **more}
    return Submission.model_validate(data, strict=False)


def test_a_variant_overrides_the_fields_that_it_states() -> None:
    own = Configuration(model="no LLM", mode="verbatim", caveats=("slow",))
    base = submission(configuration=own)
    assert base.varied("cloud").configuration == Configuration(model="gpt-4o", mode="verbatim")
    assert base.varied("plain").configuration == own


def test_a_variant_may_be_the_first_to_state_a_configuration() -> None:
    assert submission().varied("cloud").configuration == Configuration(model="gpt-4o")
    assert submission().varied("plain").configuration is None
