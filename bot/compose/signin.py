"""The provider that reviewers sign in at, where the settings name one."""

from __future__ import annotations

from bot.review.signin.ports import IdentityProvider
from bot.settings.settings import Settings


def identity_provider(settings: Settings) -> IdentityProvider | None:
    """None where nobody signs in."""
    if not settings.signin.is_on:
        return None
    from bot.review.signin.provider import Provider

    return Provider(settings.signin)
