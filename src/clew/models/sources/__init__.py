"""Where model files come from: a package index or a model hub. Neither is trusted; every file is checked."""
