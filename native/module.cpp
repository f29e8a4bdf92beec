// The Python module clearset._native: every file of this folder adds its own functions.
#include <nanobind/nanobind.h>

#include "bindings.h"

NB_MODULE(_native, module) {
  module.doc() = "Compiled kernels of clearset; only clearset.engines, clearset.functions.projections and clearset.tokens call them.";
  // A graph that is alive when Python ends keeps its functions; that is no leak to warn about.
  nanobind::set_leak_warnings(false);
  bind_dispatch(module);  // first: it may refuse to load
  bind_arrow_lists(module);
  bind_binning(module);
  bind_crossed(module);
  bind_losses(module);
  bind_packing(module);
  bind_phi(module);
  bind_predict(module);
  bind_projections(module);
  bind_rho(module);
  bind_tokens_encode(module);
  bind_tokens_find(module);
  bind_tokens_mine(module);
  bind_train(module);
}
