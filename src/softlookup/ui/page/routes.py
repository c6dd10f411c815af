"""All routes of the page, for ``create_app``."""

from __future__ import annotations

from fastapi import APIRouter

from softlookup.ui.page import routes_ask, routes_document, routes_home

router = APIRouter()
for part in (routes_home, routes_document, routes_ask):
    router.include_router(part.router)
