"""Provider: where embeddings come from. Namespaced, beside the Secret with its credential."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from memory_operator.api.quantities import Timeout, rule, rules
from memory_operator.api.resource import Part, SharedStatus

LOCAL_TYPES = "self.type in ['transformers', 'mock']"
_HOST = r"(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?"
# What the HTTP client sets itself, and what would carry a secret past `credential`.
_OWN_HEADERS = "authorization|proxy-authorization|connection|content-length|content-type|host|transfer-encoding"


class SecretKeyRef(Part):
    """One key of a Secret in the namespace of the Provider."""

    name: Annotated[
        str,
        Field(
            min_length=1, max_length=253, pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
        ),
    ] = Field(description="Name of the Secret.")
    key: Annotated[str, Field(min_length=1, max_length=253, pattern=r"^[-._a-zA-Z0-9]+$")] = Field(
        description="Key in the Secret that holds the API key."
    )


class Credential(Part):
    """Where the API key is kept. It is sent as a bearer token."""

    secret_ref: SecretKeyRef = Field(description="The Secret and the key in it.")


class Embedding(Part):
    """What the vectors are like and how texts are sent."""

    dimensions: Annotated[int, Field(ge=1, le=4000)] | None = Field(
        default=None,
        description="Numbers in a vector. Sizes the store's columns and is asked of the provider. "
        "Left out, the model's known size holds, or 1536. Changing it needs every memory embedded anew.",
    )
    query_prefix: Annotated[str, Field(max_length=512)] | None = Field(
        default=None, description="Text put before every query, for models trained with one, such as 'query: '."
    )
    passage_prefix: Annotated[str, Field(max_length=512)] | None = Field(
        default=None, description="Text put before every memory, for models trained with one, such as 'passage: '."
    )
    batch_size: Annotated[int, Field(ge=1, le=2048)] = Field(
        default=32, description="How many texts one request carries at most."
    )


class Timeouts(Part):
    """How long to wait for vectors before going on without them."""

    query: Timeout = Field(
        default="1500ms", description="For the query of a recall; after it recall goes by words only and says so."
    )
    save: Timeout = Field(
        default="3s", description="For the text of a save; after it the memory is stored and embedded later."
    )
    batch: Timeout = Field(default="60s", description="For one batch of the background work that embeds later.")


Headers = Annotated[
    dict[str, Annotated[str, Field(max_length=2048, pattern=r"^[ -~]*$")]],
    Field(
        max_length=16,
        json_schema_extra=rules(
            rule(
                "self.all(h, h.matches('^[A-Za-z0-9_-]{1,64}$'))",
                "header names are up to 64 letters, digits, '-' and '_'",
            ),
            rule(
                f"!self.exists(h, h.matches('^(?i:{_OWN_HEADERS})$'))",
                "Authorization and headers of the connection are set by Keepsake: put the API key into a Secret and "
                "name it in credential.secretRef",
            ),
        ),
    ),
]
BaseUrl = Annotated[
    str,
    Field(
        max_length=2048,
        json_schema_extra=rules(
            rule(
                f"self.matches('^https?://{_HOST}(/[!\"$->@-~]*)?$')",
                "write http:// or https://, a host and perhaps a path, such as https://gateway.example.com/v1; "
                "no user, query or fragment: the API key belongs into credential.secretRef",
            )
        ),
    ),
]


class ProviderSpec(Part):
    """The model and how to reach it."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                f"{LOCAL_TYPES} || has(self.model)",
                "name the model, such as text-embedding-3-small; only transformers and mock have one of their own",
                path=".model",
                reason="FieldValueRequired",
            ),
            rule(
                "!(self.type in ['vllm', 'ollama']) || has(self.baseURL)",
                "say where the server of types vllm and ollama is, such as http://ollama.models:11434",
                path=".baseURL",
                reason="FieldValueRequired",
            ),
            rule(
                f"!({LOCAL_TYPES}) || !has(self.baseURL)",
                "types transformers and mock run inside memory-api and call no server: leave baseURL out",
                path=".baseURL",
                reason="FieldValueForbidden",
            ),
            rule(
                f"!({LOCAL_TYPES}) || !has(self.credential)",
                "types transformers and mock run inside memory-api and need no API key: leave credential out",
                path=".credential",
                reason="FieldValueForbidden",
            ),
            rule(
                f"!({LOCAL_TYPES}) || !has(self.headers)",
                "types transformers and mock run inside memory-api and send no request: leave headers out",
                path=".headers",
                reason="FieldValueForbidden",
            ),
        )
    )

    role: Literal["embedding"] = Field(default="embedding", description="What the model is used for: embedding.")
    type: Literal["openai", "vllm", "ollama", "transformers", "mock"] = Field(
        description="Who answers: openai or any server that speaks its API, vllm, ollama; "
        "transformers is the embedder inside memory-api; mock gives vectors without meaning, for tests."
    )
    model: Annotated[str, Field(min_length=1, max_length=256, pattern=r"^[!-~]+$")] | None = Field(
        default=None,
        description="Name of the model, as the server knows it. May be left out for transformers and mock.",
    )
    base_url: BaseUrl | None = Field(
        default=None,
        alias="baseURL",
        description="Address of the server. Required for vllm and ollama; openai has a default of its own.",
    )
    credential: Credential | None = Field(
        default=None, description="Where the API key is kept. Left out, requests carry none."
    )
    headers: Headers | None = Field(
        default=None, description="Headers sent with every request, such as a tenant. Never a secret: see credential."
    )
    embedding: Embedding = Field(default=Embedding(), description="What the vectors are like and how texts are sent.")
    timeouts: Timeouts = Field(
        default=Timeouts(), description="How long to wait for vectors before going on without them."
    )


class Provider(Part):
    """Where embeddings come from. A workspace names one under spec.services[].memory.providerRef."""

    spec: ProviderSpec = Field(description="The model and how to reach it.")
    status: SharedStatus | None = Field(default=None, description="What the operator last saw.")
