"""`clew serve` with the tools, resources and prompts that the public MCP conformance suite asks of a server.

The suite tests the protocol by items that only a test server has; everything else is the product as
it is served: the HTTP server with its checks of host and origin, the transport and the handlers.
"""

from __future__ import annotations

import base64
import json
import struct
import sys
import zlib
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import mcp.types as wire

from clew.surface.cli.app import app
from clew.surface.mcp import server


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def red_pixel() -> str:
    """Return a PNG of one red pixel in base64."""
    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    parts = (
        _chunk(b"IHDR", header),
        _chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")),
        _chunk(b"IEND", b""),
    )
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()


def silence() -> str:
    """Return a WAV without a sample in base64."""
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8)
    body = b"WAVE" + form + struct.pack("<4sI", b"data", 0)
    return base64.b64encode(struct.pack("<4sI", b"RIFF", len(body)) + body).decode()


def text(said: str) -> wire.TextContent:
    return wire.TextContent(type="text", text=said)


def image() -> wire.ImageContent:
    return wire.ImageContent(type="image", data=red_pixel(), mime_type="image/png")


def embedded(uri: str, mime_type: str, said: str) -> wire.EmbeddedResource:
    return wire.EmbeddedResource(
        type="resource", resource=wire.TextResourceContents(uri=uri, mime_type=mime_type, text=said)
    )


TOOLS: dict[str, Callable[[], Sequence[Any]]] = {
    "test_simple_text": lambda: [text("This is a simple text response for testing.")],
    "test_image_content": lambda: [image()],
    "test_audio_content": lambda: [
        wire.AudioContent(type="audio", data=silence(), mime_type="audio/wav")
    ],
    "test_embedded_resource": lambda: [
        embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": lambda: [
        text("Multiple content types test:"),
        image(),
        embedded(
            "test://mixed-content-resource", "application/json", '{"test":"data","value":123}'
        ),
    ],
    "test_error_handling": lambda: [text("This tool intentionally returns an error for testing")],
}
SCHEMA_TOOL = {
    "name": "json_schema_2020_12_tool",
    "description": "Tool with JSON Schema 2020-12 features",
    "inputSchema": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
        "additionalProperties": False,
    },
}
PROMPTS: dict[str, tuple[str, ...]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
}
RESOURCES = {
    "test://static-text": {
        "mime_type": "text/plain",
        "text": "This is the content of the static text resource.",
    },
    "test://static-binary": {"mime_type": "image/png", "blob": red_pixel()},
}
TEMPLATE = "test://template/{id}/data"


class Diagnostics(server.Handlers):
    """The product's handlers, and the suite's items beside the product's own."""

    async def list_tools(self, ctx: Any, params: Any) -> wire.ListToolsResult:
        own = await super().list_tools(ctx, params)
        empty = {"type": "object", "properties": {}}
        made = [
            {"name": name, "description": "For the conformance suite", "inputSchema": empty}
            for name in TOOLS
        ]
        return wire.ListToolsResult(
            tools=[*own.tools, *(wire.Tool.model_validate(tool) for tool in (*made, SCHEMA_TOOL))]
        )

    async def call_tool(self, ctx: Any, params: wire.CallToolRequestParams) -> wire.CallToolResult:
        if params.name not in TOOLS:
            return await super().call_tool(ctx, params)
        return wire.CallToolResult(
            content=list(TOOLS[params.name]()), is_error=params.name == "test_error_handling"
        )

    async def list_resources(self, ctx: Any, params: Any) -> wire.ListResourcesResult:
        own = await super().list_resources(ctx, params)
        made = [
            wire.Resource(name=uri.removeprefix("test://"), uri=uri, mime_type=each["mime_type"])
            for uri, each in RESOURCES.items()
        ]
        return wire.ListResourcesResult(resources=[*own.resources, *made])

    async def list_templates(self, ctx: Any, params: Any) -> wire.ListResourceTemplatesResult:
        own = await super().list_templates(ctx, params)
        made = wire.ResourceTemplate(
            name="template", uri_template=TEMPLATE, mime_type="application/json"
        )
        return wire.ListResourceTemplatesResult(resource_templates=[*own.resource_templates, made])

    async def read_resource(
        self, ctx: Any, params: wire.ReadResourceRequestParams
    ) -> wire.ReadResourceResult:
        uri = str(params.uri)
        before, after = TEMPLATE.split("{id}")
        if uri.startswith(before) and uri.endswith(after):
            id = uri.removeprefix(before).removesuffix(after)
            told = json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})
            contents: Any = wire.TextResourceContents(
                uri=uri, mime_type="application/json", text=told
            )
        elif uri in RESOURCES:
            kind = (
                wire.BlobResourceContents if "blob" in RESOURCES[uri] else wire.TextResourceContents
            )
            contents = kind.model_validate({"uri": uri, **RESOURCES[uri]}, by_name=True)
        else:
            return await super().read_resource(ctx, params)
        return wire.ReadResourceResult(contents=[contents])

    async def list_prompts(self, ctx: Any, params: Any) -> wire.ListPromptsResult:
        own = await super().list_prompts(ctx, params)
        made = [
            wire.Prompt(
                name=name,
                description="For the suite",
                arguments=[wire.PromptArgument(name=each, required=True) for each in needed],
            )
            for name, needed in PROMPTS.items()
        ]
        return wire.ListPromptsResult(prompts=[*own.prompts, *made])

    async def get_prompt(
        self, ctx: Any, params: wire.GetPromptRequestParams
    ) -> wire.GetPromptResult:
        if params.name not in PROMPTS:
            return await super().get_prompt(ctx, params)
        given = params.arguments or {}
        said: dict[str, list[Any]] = {
            "test_simple_prompt": [text("This is a simple prompt for testing.")],
            "test_prompt_with_arguments": [
                text(
                    f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'"
                )
            ],
            "test_prompt_with_embedded_resource": [
                embedded(
                    given.get("resourceUri", ""),
                    "text/plain",
                    "Embedded resource content for testing.",
                ),
                text("Please process the embedded resource above."),
            ],
            "test_prompt_with_image": [image(), text("Please analyze the image above.")],
        }
        return wire.GetPromptResult(
            messages=[wire.PromptMessage(role="user", content=each) for each in said[params.name]]
        )


def main() -> NoReturn:
    """Serve as `clew serve` does, with the options given."""
    server.Handlers = Diagnostics  # type: ignore[misc]  # what the product's own factory takes
    app.main(["serve", *sys.argv[1:]], prog_name="clew")


if __name__ == "__main__":
    main()
