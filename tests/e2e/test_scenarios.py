"""The scenarios of the source documents, through the ports: a scripted model, a scripted web and a small knowledge base each."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.records import Ask
from bot.turn.pipeline import answer_turn
from grounding.embedded.vectors.embedder import MiniLM
from grounding.policy import Policy
from grounding.prompting.prompt import insufficient_sentence
from grounding.records import Access, Action, Document, Query, Turn, WebResult
from rai.records import Outcome
from tests.e2e.support import ScriptedGrader, ScriptedWeb, world
from tests.fakes.model import ScriptedModel

LEAVE = Document(
    "handbook/leave.md",
    "Leave policy",
    "Employees receive 25 days of paid leave a year. Unused days expire on 31 March.",
)
VPN = Document("it/vpn.md", "VPN", "Connect to the VPN with the client from the software centre.")


@pytest.mark.row("0-23")
async def test_an_internal_question_is_answered_directly(tmp_path: Path, minilm: MiniLM) -> None:
    """A highly relevant document answers; no web search is made."""
    web = ScriptedWeb()
    model = ScriptedModel("Employees receive 25 days of paid leave a year [1].")
    w = await world(
        tmp_path, [LEAVE, VPN], minilm, model=model, grader=ScriptedGrader({"handbook/leave.md": 1.0}), web=web
    )
    reply = await answer_turn(Ask("How many days of paid leave do employees get?"), w.seams, Policy())
    assert reply.outcome is Outcome.ANSWERED
    assert reply.record.action is Action.CORRECT
    assert web.queries == []
    assert [c.doc_id for c in reply.citations] == ["handbook/leave.md"]
    assert "25 days of paid leave" in reply.citations[0].quote
    assert len(model.calls) == 1


@pytest.mark.row("0-24")
@pytest.mark.row("0-17")
async def test_an_external_question_goes_to_the_web(tmp_path: Path, minilm: MiniLM) -> None:
    """No document scores: its text is discarded, the web is searched, the answer cites the web and says so."""
    page = WebResult(
        "Tokyo Tower", "https://travel.example/tokyo-tower", "Tokyo Tower is 333 metres tall and opened in 1958."
    )
    web = ScriptedWeb(page)
    model = ScriptedModel("Tokyo Tower is 333 metres tall [1].")
    w = await world(tmp_path, [LEAVE, VPN], minilm, model=model, web=web)
    reply = await answer_turn(Ask("How tall is Tokyo Tower?"), w.seams, Policy())
    assert reply.outcome is Outcome.ANSWERED, reply
    assert reply.record.action is Action.INCORRECT
    assert web.queries == ["How tall is Tokyo Tower?"]
    assert [(c.origin, c.url) for c in reply.citations] == [("web", page.url)]
    assert "paid leave" not in model.calls[0].system


@pytest.mark.row("0-20")
async def test_nothing_anywhere_gives_the_exact_sentence(tmp_path: Path, minilm: MiniLM) -> None:
    w = await world(tmp_path, [LEAVE, VPN], minilm, model=ScriptedModel(), web=ScriptedWeb())
    reply = await answer_turn(Ask("How tall is Tokyo Tower?"), w.seams, Policy())
    assert reply.outcome is Outcome.INSUFFICIENT
    assert reply.answer == "The provided information is not sufficient to answer this question."


FORM = Document(
    "form.txt",
    "Applications",
    "Please use application form 354-02 to enter applicants’ medical history, significant illnesses and other symptoms.",
)
DOE = Document(
    "doe.txt",
    "John Doe",
    "Mr. John Doe, a 35-year-old non-smoker, is applying for a life insurance policy. He works as an accountant and leads a low-risk "
    "lifestyle. He exercises regularly and maintains a healthy diet. His medical history reveals no significant illnesses, and his family "
    "history is also clear of any hereditary diseases. He is interested in a policy with a coverage amount of $500,000.",
)
ILLNESS = "Does the applicant have any significant illnesses in his medical history?"


@pytest.mark.row("1-12")
@pytest.mark.row("1-13")
async def test_confidence_ranks_and_not_cosine(tmp_path: Path, minilm: MiniLM) -> None:
    """Search prefers the form, the grader's confidence the person: the evidence is document 2 and then document 1."""
    model = ScriptedModel("His medical history reveals no significant illnesses [1].")
    grader = ScriptedGrader({"form.txt": 0.1, "doe.txt": 0.9})
    w = await world(tmp_path, [FORM, DOE], minilm, model=model, grader=grader)
    reply = await answer_turn(Ask(ILLNESS), w.seams, Policy(correct_at=1.0, keep_at=0.05))
    found = (await w.seams.retriever.retrieve(Query(ILLNESS), Access(), 5)).passages
    assert [p.doc_id for p in found] == ["form.txt", "doe.txt"]
    entry = await w.ledger.get(reply.entry_id)
    assert entry is not None
    assert [e["doc_id"] for e in entry.body["evidence"]] == ["doe.txt", "form.txt"]
    assert reply.outcome is Outcome.ANSWERED
    assert "His medical history reveals no significant illnesses" in reply.citations[0].quote


async def test_a_form_number_that_was_changed_is_not_delivered(tmp_path: Path, minilm: MiniLM) -> None:
    """The trap of the source document: 354-01 in the draft against 354-02 in the text."""
    model = ScriptedModel("Enter the medical history on application form 354-01 [1].")
    w = await world(tmp_path, [FORM], minilm, model=model, grader=ScriptedGrader({"form.txt": 0.9}))
    reply = await answer_turn(Ask("Which form do I use to enter medical history and illnesses?"), w.seams, Policy())
    assert reply.outcome is Outcome.WITHHELD
    assert "354-01" not in reply.answer
    assert reply.draft is not None
    claim = next(c for c in reply.draft.claims if c.text == "354-01")
    assert (claim.status, claim.unsupported) == ("absent", True)
    assert [c.doc_id for c in reply.offered] == ["form.txt"]


async def test_the_true_form_number_is(tmp_path: Path, minilm: MiniLM) -> None:
    """The near miss of the trap: the number that the text holds is delivered."""
    model = ScriptedModel("Enter the medical history on application form 354-02 [1].")
    w = await world(tmp_path, [FORM], minilm, model=model, grader=ScriptedGrader({"form.txt": 0.9}))
    reply = await answer_turn(Ask("Which form do I use to enter medical history and illnesses?"), w.seams, Policy())
    assert reply.outcome is Outcome.ANSWERED
    assert next(c for c in reply.claims if c.text == "354-02").status == "exact"


DELETE_VM = Document(
    "azure/force-delete.md",
    "Force delete a VM",
    "To force delete a VM in the Azure Portal, navigate to your virtual machine, select Delete on the Overview page, select the checkbox "
    "for Apply force delete in the Delete virtual machine pane, and select Ok.\n\nTo delete a VM using the Azure CLI, use the "
    "--force-deletion parameter for az vm delete.\n\nTo force delete a VM using PowerShell, use the -ForceDeletion parameter for "
    "Remove-AzVm.\n\nTo force delete a VM using the Azure REST API, use the forceDeletion parameter for Virtual Machines - Delete.",
)
DELETE_ANSWER = (
    "You can force delete a VM in Azure through the Azure Portal, CLI, PowerShell, and REST API [1]. To delete a VM using the Azure CLI, use "
    "the –force-deletion parameter for az vm delete [1]. To force delete a VM using PowerShell, use the -ForceDeletion parameter for "
    "Remove-AzVm [1]. To force delete a VM using the Azure REST API, use the forceDeletion parameter for Virtual Machines – Delete [1]."
)


@pytest.mark.row("4-27")
async def test_the_force_delete_conversation(tmp_path: Path, minilm: MiniLM) -> None:
    """A chatty conversation becomes the question; dashes of another kind are no other value."""
    model = ScriptedModel(DELETE_ANSWER)
    w = await world(
        tmp_path, [DELETE_VM, VPN], minilm, model=model, grader=ScriptedGrader({"azure/force-delete.md": 0.95})
    )
    talk = (Turn("agent", "Hello, how may I help you?"), Turn("customer", "Hi, I am having an issue."))
    reply = await answer_turn(Ask("How to force delete VM in Azure?", talk), w.seams, Policy())
    assert reply.record.query.text == "How to force delete VM in Azure?"
    assert reply.outcome is Outcome.ANSWERED, [(c.text, c.status, c.why) for c in reply.claims]
    for word in ("–force-deletion", "-ForceDeletion", "Remove-AzVm", "forceDeletion"):
        assert word in reply.answer
    assert {c.doc_id for c in reply.citations} == {"azure/force-delete.md"}
    assert not [c for c in reply.claims if c.unsupported]


async def test_what_the_prompt_asks_for_when_evidence_is_missing_is_an_outcome(tmp_path: Path, minilm: MiniLM) -> None:
    """A model that says the exact sentence ends the turn as insufficient, with the sources offered."""
    model = ScriptedModel(insufficient_sentence())
    w = await world(tmp_path, [LEAVE], minilm, model=model, grader=ScriptedGrader({"handbook/leave.md": 0.9}))
    reply = await answer_turn(Ask("How many days of leave do contractors get?"), w.seams, Policy())
    assert reply.outcome is Outcome.INSUFFICIENT
    assert [c.doc_id for c in reply.offered] == ["handbook/leave.md"]
