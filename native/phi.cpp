#include "bindings.h"

void bind_phi(nanobind::module_&) {}
