// The one place that knows which instruction sets there are. The best one that the machine has is in force, unless the
// environment variable CLEARSET_ISA names another when the module is loaded.
#include "dispatch.h"

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "bindings.h"

namespace nb = nanobind;

namespace {

constexpr const char* kVariable = "CLEARSET_ISA";

// One copy of the lanes.
struct Kernels {
  const char* name;
  bool present;  // compiled, and the machine can run it
  const PhiKernel<float>* phi_f32;
  const PhiKernel<double>* phi_f64;
  const CrossedKernel<float>* crossed_f32;
  const CrossedKernel<double>* crossed_f64;
};

#define CLEARSET_KERNELS(isa, present) \
  { #isa, present, &isa::kernel_f32, &isa::kernel_f64, &isa::crossed_f32, &isa::crossed_f64 }

const Kernels* in_force = nullptr;

// Chooses, the best first; throws if the variable names what is not there.
const Kernels* choose() {
#if defined(CLEARSET_X86)
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  static const Kernels known[] = {CLEARSET_KERNELS(avx512, has_avx512), CLEARSET_KERNELS(avx2, has_avx2),
                                  CLEARSET_KERNELS(baseline, true)};
#else
  static const Kernels known[] = {{"avx512", false, nullptr, nullptr, nullptr, nullptr},
                                  {"avx2", false, nullptr, nullptr, nullptr, nullptr},
                                  CLEARSET_KERNELS(baseline, true)};
#endif
  const char* variable = std::getenv(kVariable);
  const std::string wanted = variable == nullptr ? "" : variable;
  std::string names;
  bool is_known = false;
  for (const Kernels& kernels : known) {
    if (kernels.present && (wanted.empty() || wanted == kernels.name)) return &kernels;
    if (kernels.present) names += std::string(names.empty() ? "" : ", ") + kernels.name;
    is_known |= wanted == kernels.name;
  }
  throw std::runtime_error("The environment variable " + std::string(kVariable) + " is '" + wanted + "', " +
                           (is_known ? "an instruction set that this machine lacks" : "which is no instruction set") +
                           "; choose one of " + names + ", or unset it for the best.");
}

}  // namespace

template <>
const PhiKernel<float>& phi_kernel<float>() {
  return *in_force->phi_f32;
}
template <>
const PhiKernel<double>& phi_kernel<double>() {
  return *in_force->phi_f64;
}
template <>
const CrossedKernel<float>& crossed_kernel<float>() {
  return *in_force->crossed_f32;
}
template <>
const CrossedKernel<double>& crossed_kernel<double>() {
  return *in_force->crossed_f64;
}

// What is thrown here becomes the ImportError of the module.
void bind_dispatch(nb::module_& module) {
  in_force = choose();
  module.def("instruction_set", [] { return in_force->name; },
             "Return the instruction set of the kernels: 'baseline', 'avx2' or 'avx512'.");
}
