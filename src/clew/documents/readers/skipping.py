"""Files that hold no text to import: pictures, sound, films, fonts, programs.

They are skipped and are not failures.
"""

from __future__ import annotations

from pathlib import PurePath

from clew.documents.readers.document import NotTextError

__all__ = ["NotTextError", "not_text"]

_KINDS = {
    "a picture": "png jpg jpeg gif bmp tif tiff webp ico icns heic heif avif svg svgz psd xcf ai eps raw cr2 nef drawio",
    "a sound or a film": "mp3 wav ogg oga flac m4a aac opus wma mp4 m4v mov avi mkv webm wmv mpg mpeg",
    "a font": "ttf otf ttc woff woff2 eot",
    "a program or its data": "exe dll so dylib o a obj lib class jar war pyc pyo pyd wasm bin dat db sqlite sqlite3 clew iso img dmg",
    "a package": "whl egg deb rpm apk msi gz tgz bz2 xz 7z rar zst tar",
    "a model's weights": "onnx pt pth safetensors gguf ckpt h5 pb npy npz parquet feather pickle pkl",
    "a lock or a map of a tool": "map lockb",
}
_BY_EXTENSION = {
    f".{extension}": kind for kind, extensions in _KINDS.items() for extension in extensions.split()
}


def not_text(path: PurePath) -> str:
    """Return what a file is that its extension says to hold no text, or nothing.

    >>> not_text(PurePath("logo.SVG")), not_text(PurePath("notes.md"))
    ('a picture', '')
    """
    return _BY_EXTENSION.get(path.suffix.lower(), "")
