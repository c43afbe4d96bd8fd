"""What a file becomes: discovery, readers, chunkers and the tree of document, section and chunk."""
