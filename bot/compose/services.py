"""Builds the clients of what lies outside of this machine: the chat model, the web search, the directory, names, summaries and personal
data by a service, the stronger prompt screen.

Each adapter is imported where it is built, and a model or a web search is handed out in its wrapper alone. `resources` collects what has to be closed with the system.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from bot.compose.backends import chat_backends, settings_at
from bot.compose.parts import HYPOTHETICALS
from bot.compose.resources import Close, Resources
from bot.places import places_of
from bot.settings.backends import ListedBackend
from bot.settings.forms import severities
from bot.settings.load import SAMPLE
from bot.settings.settings import Settings
from grounding.grading.prompt import own_texts as grading_texts
from grounding.policy import Policy
from grounding.ports import ChatModel, Directory, Embedder, Grader, Summarizer, WebSearch
from grounding.prompting.prompt import own_texts
from grounding.records import OnProgress
from grounding.services.cloud import CLOUDS
from grounding.services.group_names import GroupNames
from grounding.services.key_file import KeyFile
from grounding.services.remote import Remote
from grounding.web.sites import FilteredSearch, Sites
from rai.check.judging.prompt import REQUEST as JUDGE_REQUEST
from rai.check.judging.prompt import instructions as judge_instructions
from rai.personal.redact import Redactor
from rai.ports import EntityTagger, PersonalFinder, PromptScreen
from rai.records import EntityType
from rai.screening.by_model import ModelScreen
from rai.screening.by_model import own_lines as screen_lines
from rai.screening.cascade import CascadeScreen
from rai.screening.decision import TIMEOUT_S
from rai.screening.model import ScreenedModel
from rai.screening.personal_data import PrivateModel, PrivateTagger, masking
from rai.screening.web import ScreenedWeb

if TYPE_CHECKING:
    from grounding.azure.openai.learned import Learned
    from grounding.azure.openai.model import OpenAIModel

LOG = logging.getLogger("attest")
ENOUGH = 5
"""Passages that reach `certain_at` after which a model grades no more, also where more are given to who drafts."""
HELPING_SHARE = 1 / 6
"""Of a turn's deadline, for a call of the model that does not draft."""
JUDGING_SHARE = 1 / 4
"""The same for the judge, which reads all the evidence once and may be asked again about a repaired answer."""


def chat_model(
    settings: Settings,
    screen: PromptScreen,
    redactor: Redactor,
    resources: Resources,
    *,
    within_s: float | None = None,
    needed: bool = False,
    name: str | None = None,
) -> ChatModel:
    """The chat model behind the prompt screen; the bare one exists only inside this wrapper.

    `within_s`: seconds for a call, in place of the settings'; `needed`: without it no turn can be answered; `name`: of another model or
    deployment at the same endpoint.
    """
    model: ChatModel
    if settings.model.several:

        def make(_: ListedBackend, at: Settings, remote: Remote, key: KeyFile | None) -> ChatModel:
            return bare_model(at, remote, resources, key=key)

        model = chat_backends(settings, make, resources, within_s=within_s, needed=needed)
    else:
        remote = resources.remote(settings, "openai", within_s=within_s, needed=needed)
        model = bare_model(settings, remote, resources, name)
    ours = [
        *own_texts(settings.answering.company),
        *grading_texts(),
        judge_instructions(),
        JUDGE_REQUEST,
        screen_lines(),
    ]
    inner: ChatModel = PrivateModel(model, redactor) if settings.model.pseudonyms == "on" else model
    return ScreenedModel(inner, screen, trusted=ours)


def bare_model(
    settings: Settings, remote: Remote, resources: Resources, name: str | None = None, *, key: KeyFile | None = None
) -> OpenAIModel:
    """The chat model without the screen, for a call that holds nobody's text; all others go through `chat_model`. `name`: as there. `key`: the
    file that holds it, in place of the settings'.
    """
    from grounding.azure.openai.chat import OpenAIChat
    from grounding.azure.openai.responses import OpenAIResponses

    interface = OpenAIChat if settings.model.api == "chat" else OpenAIResponses
    model = interface(
        settings.model.base_url,
        key or openai_key(settings, resources),
        name or settings.model.name,
        remote,
        stream=settings.model.stream == "on",
        effort=settings.model.reasoning_effort,
        auth=settings.model.auth,
        learned=learned(settings, resources, name),
    )
    resources.append(_closing(model))
    return model


def learned(settings: Settings, resources: Resources, name: str | None = None) -> Learned:
    """The record of what the chat model takes and refuses, or another one (`name`) at its endpoint: one for all that ask the same."""
    from grounding.azure.openai.learned import beginning

    sure = "thinking_tokens" in settings.model.model_fields_set
    begin = partial(
        beginning,
        settings.model.base_url,
        thinking=settings.model.thinking_tokens,
        effort=settings.model.reasoning_effort,
        sure=sure,
    )
    return resources.shared(("openai", settings.model.base_url, name or settings.model.name), begin)


def thinking_room(settings: Settings, resources: Resources) -> Callable[[], int]:
    """A function that tells the tokens which a reply of the chat model gets to think in, as far as is known by now: of several, the most."""
    within = settings.model.backends.chat_within if settings.model.backends and settings.model.several else ()
    known = [learned(settings_at(settings, at), resources) for at in within] or [learned(settings, resources)]
    return lambda: max(of.room() for of in known)


def openai_key(settings: Settings, resources: Resources) -> str | Callable[[], Awaitable[str]] | None:
    """The credential of the chat model's endpoint: the key that was given, else this machine's identity if the endpoint is Azure's, else none."""
    return resources.openai_credential(
        settings,
        settings.model.api_key,
        settings.model.base_url,
        setting="ATTEST_OPENAI_BASE_URL",
        service="openai",
        scope=settings.model.scope,
    )


def model_grader(model: ChatModel, policy: Policy, fallback: Grader) -> Grader:
    """A grader that asks the chat model in the style of `policy`; `fallback` grades what it leaves out. The style may not be `none`."""
    from grounding.grading.model import ModelGrader

    assert policy.style != "none"  # nobody grades then
    return ModelGrader(
        model,
        policy.style,
        fallback=fallback,
        batch=policy.grade_batch,
        certain_at=policy.certain_at,
        certain_n=min(policy.evidence_k, ENOUGH),
        labels=policy.labels,
    )


def imaginer(
    settings: Settings, store: Any, embedder: Embedder | None, first: PromptScreen, resources: Resources
) -> Callable[[OnProgress], Awaitable[object]]:
    """A step of an ingest: lets the chat model write the questions that new passages answer. Does nothing where that is off.

    The prompts are screened by `first` and what stands behind it.
    """
    from grounding.embedded.hypotheticals import Hypotheticals

    async def nothing(_on_progress: OnProgress) -> None:
        if settings.model.hyde == "model":
            LOG.warning("ATTEST_HYDE=model: without the embedding model no hypothetical questions are written")

    if settings.model.hyde == "off" or embedder is None:
        return nothing
    model = chat_model(
        settings, prompt_screen(settings, first, resources), Redactor(settings.answering.phone_regions), resources
    )
    return partial(Hypotheticals(places_of(settings).in_index(HYPOTHETICALS)).follow, store, embedder, model)


def prompt_screen(settings: Settings, first: PromptScreen, resources: Resources) -> PromptScreen:
    """The prompt screen: `first`, and behind it the stronger one that the settings name; without that its doubts are noted."""
    if settings.screen.kind == "content_safety":
        return CascadeScreen(first, _content_safety(settings, resources), when=settings.screen.asked)
    if settings.screen.kind == "moderation":
        return CascadeScreen(first, _moderation(settings, resources), when=settings.screen.asked, documents=False)
    if settings.screen.kind == "model":
        return CascadeScreen(first, _by_model(settings, first, resources), when=settings.screen.asked)
    return CascadeScreen(first)


def _content_safety(settings: Settings, resources: Resources) -> PromptScreen:
    from rai.azure.content_safety import ContentSafetyScreen, Strictness

    assert settings.content_safety.endpoint is not None  # the settings refuse content_safety without one
    key = resources.key(settings.content_safety.key, settings)
    strictness = Strictness(
        severities(settings.content_safety.severities),
        settings.content_safety.levels,
        settings.content_safety.blocklists,
        settings.content_safety.halt_on_blocklist,
    )
    remote = resources.remote(settings, "content-safety", within_s=_waited_for(settings, TIMEOUT_S), needed=True)
    screen = ContentSafetyScreen(settings.content_safety.endpoint, key, remote, strictness)
    resources.append(_closing(screen))
    return screen


def _by_model(settings: Settings, first: PromptScreen, resources: Resources) -> PromptScreen:
    """A chat model as the stronger screen, in its wrapper over the first one: what it is asked about was judged, too."""
    redactor = Redactor(settings.answering.phone_regions)
    within = _waited_for(settings, TIMEOUT_S)
    model = chat_model(
        settings, CascadeScreen(first), redactor, resources, within_s=within, needed=True, name=settings.screen.model
    )
    return ModelScreen(model)


def _moderation(settings: Settings, resources: Resources) -> PromptScreen:
    from rai.azure.moderation import ModerationScreen

    screen = ModerationScreen(
        settings.moderation.base_url,
        settings.moderation.key.get_secret_value() if settings.moderation.key else None,
        resources.remote(settings, "moderation", within_s=_waited_for(settings, TIMEOUT_S), needed=True),
        model=settings.moderation.model,
        block_at=settings.moderation.block_at,
    )
    resources.append(_closing(screen))
    return screen


def tagger(
    settings: Settings, listed: Callable[[], Mapping[str, EntityType]], redactor: Redactor, resources: Resources
) -> EntityTagger:
    """The finder of names: by the list of the knowledge base, and by Azure AI Language where that is switched on."""
    from rai.embedded.tagger import GazetteerTagger

    local = GazetteerTagger(listed)
    if "names" not in settings.language.uses:
        return local
    from rai.azure.language import LanguageRecognizer, LanguageTagger

    key = resources.key(settings.language.key, settings)
    remote = _language_remote(settings, resources)
    both = LanguageTagger(
        local, LanguageRecognizer(settings.language.endpoint or "", key, timeout_s=remote.deadline_s), remote
    )
    resources.append(_closing(both))
    return PrivateTagger(both, redactor) if settings.model.pseudonyms == "on" else both


def summarizer(settings: Settings, embedder: Embedder | None, redactor: Redactor, resources: Resources) -> Summarizer:
    """The summarizer, which ranks the sentences of a conversation: by embeddings, or by Azure AI Language."""
    if "summaries" not in settings.language.uses:
        from grounding.embedded.summarizer import CentralitySummarizer

        return CentralitySummarizer(embedder)
    from grounding.azure.language.summarizer import LanguageSummarizer

    key = resources.key(settings.language.key, settings)
    most = min(settings.language.summarizer_deadline_s, settings.bounds.turn_deadline_s / 2)
    # one more try at most: whoever cannot have a summary searches for the last turn
    remote = resources.remote(settings, "language", within_s=most, retries=min(1, settings.bounds.retries))
    mask = masking(redactor) if settings.model.pseudonyms == "on" else None
    made = LanguageSummarizer(settings.language.endpoint or "", key, remote, mask=mask)
    resources.append(_closing(made))
    return made


def personal_finder(
    settings: Settings, listed: Callable[[], Mapping[str, EntityType]], redactor: Redactor, resources: Resources
) -> PersonalFinder | None:
    """The finder of personal data that works beside our own rules: Azure AI Language; None where it is off."""
    if "personal data" not in settings.language.uses:
        return None
    from rai.azure.language_personal import LanguagePersonal, PersonalRecognizer
    from rai.embedded.tagger import GazetteerTagger

    key = resources.key(settings.language.key, settings)
    remote = _language_remote(settings, resources)
    mask = masking(redactor) if settings.model.pseudonyms == "on" else None
    recognizer = PersonalRecognizer(settings.language.endpoint or "", key, timeout_s=remote.deadline_s)
    finder = LanguagePersonal(recognizer, remote, own=GazetteerTagger(listed), mask=mask)
    resources.append(_closing(finder))
    return finder


def _language_remote(settings: Settings, resources: Resources) -> Remote:
    """Calls that a turn can do without, and makes several of: each is short, so that together they leave the answer its time."""
    return resources.remote(
        settings, "language", within_s=_waited_for(settings, min(TIMEOUT_S, settings.bounds.turn_deadline_s / 4))
    )


def directory(settings: Settings, resources: Resources) -> Directory:
    """The directory, which knows the groups of a person: a file, or Microsoft Graph."""
    if settings.directory.kind == "file":
        from grounding.embedded.directory import FileDirectory

        return FileDirectory(settings.directory_path)
    from grounding.azure.graph_directory import SERVICE, GraphDirectory

    graph = GraphDirectory(
        settings.directory.graph_endpoint or CLOUDS[settings.identity.cloud].graph,
        resources.identity(settings),
        resources.remote(settings, SERVICE),
        names=GroupNames(settings.directory.groups_file).current,
        keep_s=settings.directory.cache_s,
    )
    resources.append(_closing(graph))
    return graph


def web_search(settings: Settings, screen: PromptScreen, redactor: Redactor, resources: Resources) -> WebSearch | None:
    """The web search, filtered by the lists, then screened; None when it is off."""
    if settings.web.kind == "off":
        return None
    sites = Sites(settings.web.allow, settings.web.deny, settings.web.trusted)
    provider = _provider(settings, sites, resources)
    if settings.web.kind != "sample":
        resources.append(_closing(provider))
    removing = redactor if settings.web.personal_data == "removed" else None
    return ScreenedWeb(FilteredSearch(provider, sites), screen, removing)


def _provider(settings: Settings, sites: Sites, resources: Resources) -> WebSearch:
    """The search itself; the settings refuse one whose key or address is missing."""
    remote = resources.remote(settings, settings.web.kind)
    match settings.web.kind:
        case "serpapi":
            from grounding.web.serpapi_search import SerpApiSearch

            return SerpApiSearch(_key(settings.web.serpapi_key), remote, sites=sites)
        case "tavily":
            from grounding.web.tavily_search import TavilySearch

            return TavilySearch(
                _key(settings.web.tavily_key), remote, sites=sites, base_url=settings.web.tavily_base_url
            )
        case "duckduckgo":
            from grounding.web.duckduckgo import DuckDuckGo

            return DuckDuckGo(remote)
        case "bing":
            from grounding.web.bing_search import BingSearch

            return BingSearch(settings.web.bing_endpoint or "", _key(settings.web.bing_key), remote)
        case "sample" | "off":  # each by its name: types then say which search has no case
            from grounding.web.sample import SamplePages

            return SamplePages(SAMPLE / "web" / "pages.jsonl")


def _key(secret: SecretStr | None) -> str:
    return secret.get_secret_value() if secret is not None else ""


def _waited_for(settings: Settings, seconds: float) -> float:
    """What waits `seconds` for a call waits no longer; the call then ends first, and can say which service it was."""
    return min(settings.bounds.call_deadline_s, 0.8 * seconds)


def _closing(adapter: Any) -> Close:
    """A closer that does not lead to the adapter as a bound method would."""

    async def close() -> None:
        await adapter.aclose()

    return close
