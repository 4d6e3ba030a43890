"""Networks of proportional hazards: PyTorch modules with a baseline, and pycox's CoxPH."""

from __future__ import annotations

from butfor.estimator.boosters import register_native
from butfor.estimator.survival_networks import CoxNetwork, of_pycox
from butfor.importers.fold.column import Column
from butfor.importers.libraries.torch_modules import read_network
from butfor.importers.registry import Imported, register_importer
from butfor.model.survival.readout import Hazards


def read_cox_network(network: CoxNetwork, columns: list[Column]) -> Imported:
    """The network is the score, the baseline a step function."""
    model, _ = read_network(network, columns)
    return model, Hazards(times=network.times, hazard=network.hazard)


register_importer(CoxNetwork, read_cox_network)
register_native("pycox.CoxPH", lambda fitted: of_pycox(fitted, None))
