// The track's functions and kernels as texts, for stages that compile them while the program runs
// (texts.cmake).
#pragma once

#if !LAB_EMULATED
namespace lab::udf {

inline constexpr const char* functions =
#include "functions.inc"
    ;
inline constexpr const char* kernels =
#include "kernels.inc"
    ;

}  // namespace lab::udf
#endif
