// Which copy of the lanes does the work: the one for the instruction set in force.
#pragma once

#include "crossed_lanes.h"
#include "phi_lanes.h"

template <class T>
const PhiKernel<T>& phi_kernel();

template <class T>
const CrossedKernel<T>& crossed_kernel();
