"""The product serves any field: nothing of a company stands in its code or its prompts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grounding.model_calls.templates import template, template_names
from tests.test_architecture import FILES

ROOT = Path(__file__).parent.parent
SAMPLE = re.compile(r"\b(?:halden|wren|northwind|watch (?:basic|plus|pro))\b", re.IGNORECASE)
"""The company of the sample knowledge base, and what it sells."""


@pytest.mark.row("4-28")
def test_no_prompt_speaks_of_a_company_or_its_products() -> None:
    assert [name for name in template_names() if SAMPLE.search(template(name))] == []


@pytest.mark.row("4-28")
def test_no_code_decides_by_a_company_or_its_products() -> None:
    """Strings and names, for examples in comments and docstrings decide nothing."""
    for path in FILES:
        text = (ROOT / path).read_text("utf-8")
        code = re.sub(r'"""(?:.|\n)*?"""|#.*', "", text)
        assert SAMPLE.findall(code) == [], path
