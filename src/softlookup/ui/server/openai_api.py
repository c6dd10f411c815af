"""POST /v1/chat/completions in OpenAI's shape: filled in below."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(prefix="/v1", tags=["openai"])
