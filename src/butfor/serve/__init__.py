"""The what-if page and its interface: questions over HTTP, answered by processes that hold the model."""
