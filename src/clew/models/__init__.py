"""Models behind the ports `Embedder` and `Reranker`.

Which embedders are there? `load` a spec and see.

arctic-embed-s                the default, pinned in the catalogue and pulled on first use
hashing, hashing-256          deterministic, needs no model, for tests
onnx:FOLDER                   a folder with model.onnx, tokenizer.json and clew-model.json
fastembed:NAME                through the library of that name, an extra of this package
sentence-transformers:NAME    likewise
model2vec:NAME                likewise
ollama:NAME                   a local Ollama server
openai:NAME                   OpenAI or any server that speaks its protocol
none                          no model: recall is lexical and says so

Of rerankers there are ms-marco-minilm, once it was pulled, those that were added by a name, and
onnx:FOLDER.
"""

from __future__ import annotations

from clew.models.library import DEFAULT
from clew.models.loading import load, load_reranker

__all__ = ["DEFAULT", "load", "load_reranker"]
