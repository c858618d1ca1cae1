"""DeepL's routes for glossaries: v2 with one dictionary each, v3 with one for each pair of languages."""

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request, Response

from ptenmt.server import schemas
from ptenmt.server.glossaries import Pair, StoredGlossary, table_of, terms_of
from ptenmt.server.limits import Refusal
from ptenmt.server.service import Service, SharedService, bearer_token
from ptenmt.translation.safeguards.glossary import Glossary

router = APIRouter(
    tags=["Glossaries"],
    responses=schemas.errors(400, 403, 404, 408, 413, 429, 456, 503, model=schemas.DeepLErrorAnswer),
)
_DICTIONARY = schemas.body_of(schemas.DictionaryRequest)
_CHANGES = schemas.body_of(schemas.GlossaryChanges)


def _owner(request: Request, service: Service) -> str:
    """The owner of the request's key."""
    service.check_key(request, bearer_token(request))
    owner: str = request.state.key
    return owner


def _dictionary(service: Service, given: schemas.DictionaryRequest) -> tuple[Pair, Glossary]:
    """The pair of languages of a dictionary, and its terms; refuses one that is not translated."""
    pair = _pair(service, given.source, given.target)
    if pair not in service.models.directions:
        raise Refusal(f"there is no model from {pair[0][:35]} to {pair[1][:35]}")
    return pair, terms_of(given.entries, given.entries_format)


def _pair(service: Service, source: str, target: str) -> Pair:
    return service.models.code(source), service.models.code(target)


def _about_pair(pair: Pair, terms: Glossary) -> dict[str, Any]:
    return {"source_lang": pair[0], "target_lang": pair[1], "entry_count": len(terms.terms)}


def _about(glossary: StoredGlossary) -> dict[str, Any]:
    """A glossary, as v3 writes it."""
    return {
        "glossary_id": glossary.id,
        "name": glossary.name,
        "creation_time": glossary.created,
        "dictionaries": [_about_pair(*each) for each in glossary.dictionaries.items()],
    }


def _about_first(glossary: StoredGlossary) -> dict[str, Any]:
    """A glossary, as v2 writes it: with its first dictionary."""
    about = _about(glossary)
    return {**about, **about.pop("dictionaries")[0], "ready": True}


def _about_in(request: Request) -> Callable[[StoredGlossary], dict[str, Any]]:
    """How the version of a route describes a glossary."""
    return _about_first if request.scope["route"].path.startswith("/v2/") else _about


@router.get("/v2/glossary-language-pairs")
@router.get("/v3/glossary-language-pairs", include_in_schema=False)
async def language_pairs(request: Request, service: SharedService) -> dict[str, list[dict[str, str]]]:
    """List the pairs of languages that a glossary may have."""
    _owner(request, service)
    pairs = [{"source_lang": source, "target_lang": target} for source, target in service.models.directions]
    return {"supported_languages": pairs}


@router.post("/v2/glossaries", status_code=201, openapi_extra=schemas.body_of(schemas.GlossaryRequest))
async def create(request: Request, service: SharedService) -> dict[str, Any]:
    """Store a glossary with one dictionary."""
    given = await service.read(request, schemas.GlossaryRequest)
    dictionaries = dict([_dictionary(service, given)])
    return _about_first(service.glossaries.create(request.state.key, given.name, dictionaries))


@router.post("/v3/glossaries", status_code=201, openapi_extra=schemas.body_of(schemas.MultilingualRequest))
async def create_multilingual(request: Request, service: SharedService) -> dict[str, Any]:
    """Store a glossary with several dictionaries."""
    given = await service.read(request, schemas.MultilingualRequest)
    dictionaries = dict(_dictionary(service, each) for each in given.dictionaries)
    return _about(service.glossaries.create(request.state.key, given.name, dictionaries))


@router.get("/v2/glossaries")
@router.get("/v3/glossaries")
async def list_all(request: Request, service: SharedService) -> dict[str, list[dict[str, Any]]]:
    """List the glossaries of the key, and the operator's."""
    return {"glossaries": list(map(_about_in(request), service.glossaries.of(_owner(request, service))))}


@router.get("/v2/glossaries/{name}")
@router.get("/v3/glossaries/{name}")
async def get(request: Request, service: SharedService, name: str) -> dict[str, Any]:
    """Describe a glossary."""
    return _about_in(request)(service.glossaries.find(name, _owner(request, service)))


@router.get("/v2/glossaries/{name}/entries", response_class=Response)
async def entries(request: Request, service: SharedService, name: str) -> Response:
    """Return the terms of a glossary as a table."""
    glossary = service.glossaries.find(name, _owner(request, service))
    table = table_of(glossary.dictionary(glossary.pair))
    return Response(table, media_type="text/tab-separated-values; charset=utf-8")


@router.get("/v3/glossaries/{name}/entries")
async def entries_of_pair(
    request: Request, service: SharedService, name: str, source_lang: str, target_lang: str
) -> dict[str, list[dict[str, str]]]:
    """Return the terms of a dictionary."""
    glossary = service.glossaries.find(name, _owner(request, service))
    pair = _pair(service, source_lang, target_lang)
    table = table_of(glossary.dictionary(pair))
    about = {"source_lang": pair[0], "target_lang": pair[1], "entries": table, "entries_format": "tsv"}
    return {"dictionaries": [about]}


@router.patch("/v3/glossaries/{name}", openapi_extra=_CHANGES)
async def change(request: Request, service: SharedService, name: str) -> dict[str, Any]:
    """Change the name of a glossary, or add terms to its dictionaries."""
    given = await service.read(request, schemas.GlossaryChanges)
    glossary = service.glossaries.find(name, request.state.key)
    dictionaries = dict(glossary.dictionaries)
    for pair, added in (_dictionary(service, each) for each in given.dictionaries):
        before = dictionaries[pair].terms if pair in dictionaries else {}
        dictionaries[pair] = Glossary(before | added.terms)
    name = given.name or glossary.name
    return _about(service.glossaries.update(glossary, name=name, dictionaries=dictionaries))


@router.put("/v3/glossaries/{name}/dictionaries", openapi_extra=_DICTIONARY)
async def replace_dictionary(request: Request, service: SharedService, name: str) -> dict[str, Any]:
    """Replace a dictionary of a glossary, or add one."""
    given = await service.read(request, schemas.DictionaryRequest)
    pair, terms = _dictionary(service, given)
    glossary = service.glossaries.find(name, request.state.key)
    dictionaries = {**glossary.dictionaries, pair: terms}
    service.glossaries.update(glossary, dictionaries=dictionaries)
    return _about_pair(pair, terms)


@router.delete("/v3/glossaries/{name}/dictionaries", status_code=204)
async def delete_dictionary(
    request: Request, service: SharedService, name: str, source_lang: str, target_lang: str
) -> None:
    """Delete a dictionary of a glossary; with the last one, the glossary."""
    owner, pair = _owner(request, service), _pair(service, source_lang, target_lang)
    glossary = service.glossaries.find(name, owner)
    glossary.dictionary(pair)
    kept = {other: terms for other, terms in glossary.dictionaries.items() if other != pair}
    if kept:
        service.glossaries.update(glossary, dictionaries=kept)
    else:
        service.glossaries.delete(glossary)


@router.delete("/v2/glossaries/{name}", status_code=204)
@router.delete("/v3/glossaries/{name}", status_code=204)
async def delete(request: Request, service: SharedService, name: str) -> None:
    """Delete a glossary."""
    service.glossaries.delete(service.glossaries.find(name, _owner(request, service)))
