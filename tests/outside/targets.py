"""What is run: which packages each framework needs, which of its tests, and how many of them pass."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One suite against one adapter, in an environment of its own."""

    name: str
    extra: str
    """The extra of pyproject.toml that the adapter needs."""
    packages: tuple[str, ...]
    """What is installed, pinned: other versions may have other tests."""
    plugin: str
    """The module of this folder that puts the adapter in the place of the framework's own store."""
    passing: int
    """How many tests must pass, the example of the guide among them; none may fail."""
    source: str = ""
    """The source distribution that has the tests; empty where the plug-in itself, or a wheel, has
    them.
    """
    tests: tuple[str, ...] = ()
    """The files to run, below the source distribution."""
    own: tuple[str, ...] = ()
    """Further modules of this folder with tests of our own."""
    environment: dict[str, str] = field(default_factory=dict)
    default: bool = True
    """Whether it runs without being named."""


PYTEST = ("pytest>=8.3", "pytest-asyncio>=1.0", "pytest-mock>=3.14")
OPENAI = {"OPENAI_API_KEY": "unused", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
TARGETS = (
    Target(
        name="anthropic",
        extra="anthropic",
        packages=("anthropic==2.10.0", "anyio>=4"),
        plugin="outside_anthropic",
        source="anthropic==2.10.0",
        tests=("tests/lib/tools/memory_tools/test_filesystem.py",),
        passing=73,
    ),
    Target(
        name="langgraph",
        extra="langgraph",
        packages=("langgraph-checkpoint==4.3.2",),
        plugin="outside_langgraph",
        source="langgraph-checkpoint==4.3.2",
        tests=("tests/test_store.py",),
        own=("outside_langgraph_own",),
        passing=91,
    ),
    Target(
        name="langgraph-sqlite",
        extra="langgraph",
        packages=("langgraph-checkpoint==4.3.2", "langgraph-checkpoint-sqlite==3.1.2"),
        plugin="outside_langgraph_sqlite",
        source="langgraph-checkpoint-sqlite==3.1.2",
        tests=("tests/test_store.py",),
        passing=97,
    ),
    Target(
        name="langchain",
        extra="langchain",
        packages=("langchain-tests==1.1.9",),
        plugin="outside_langchain",
        passing=31,
    ),
    Target(
        name="haystack",
        extra="haystack",
        packages=("haystack-ai==3.4.0", "pandas"),
        plugin="outside_haystack",
        passing=59,
    ),
    Target(
        name="openai-agents",
        extra="openai-agents",
        packages=("openai-agents==0.24.0",),
        plugin="outside_openai",
        source="openai-agents==0.24.0",
        tests=("tests/memory/test_session.py",),
        environment=OPENAI,
        passing=34,
    ),
    Target(
        name="autogen",
        extra="autogen",
        packages=("autogen-core==0.7.5",),
        plugin="outside_autogen",
        passing=6,
        default=False,
    ),
    Target(
        name="google-adk",
        extra="google-adk",
        packages=("google-adk==2.13.0",),
        plugin="outside_adk",
        passing=4,
        default=False,
    ),
    Target(
        name="llama-index",
        extra="llama-index",
        packages=("llama-index-core==0.14.25",),
        plugin="outside_llama_index",
        passing=3,
        default=False,
    ),
    Target(
        name="pydantic-ai",
        extra="pydantic-ai",
        packages=("pydantic-ai-slim==2.66.0",),
        plugin="outside_pydantic_ai",
        passing=2,
        default=False,
    ),
    Target(
        name="strands",
        extra="strands",
        packages=("strands-agents==1.62.0",),
        plugin="outside_strands",
        passing=2,
        default=False,
    ),
)
