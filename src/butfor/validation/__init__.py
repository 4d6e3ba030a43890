"""The dossier about a model: what somebody who validates it asks for, as data, as a page, and with what checks it."""
