// What each source file offers to the module.
#pragma once

#include <nanobind/nanobind.h>

void bind_arrow_lists(nanobind::module_& module);
void bind_binning(nanobind::module_& module);
void bind_crossed(nanobind::module_& module);
void bind_dispatch(nanobind::module_& module);
void bind_losses(nanobind::module_& module);
void bind_packing(nanobind::module_& module);
void bind_phi(nanobind::module_& module);
void bind_predict(nanobind::module_& module);
void bind_projections(nanobind::module_& module);
void bind_rho(nanobind::module_& module);
void bind_tokens_encode(nanobind::module_& module);
void bind_tokens_find(nanobind::module_& module);
void bind_tokens_mine(nanobind::module_& module);
void bind_train(nanobind::module_& module);
