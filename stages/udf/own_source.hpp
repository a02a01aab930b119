// What a person's own function becomes: CUDA C++ that a kernel can call, or PTX and its declaration. Needs
// NVRTC, and no GPU.
#pragma once

#include <string>
#include <string_view>

#include "stages/udf/own_function.hpp"
#include "stages/udf/source.hpp"

namespace lab::udf {

// CUDA C++ that defines user_function (source.hpp), with these qualifiers, by calling the person's own; PTX
// is translated for that (common/ptx). Whatever is wrong is a matter of the person's own text: source_error
// with the compiler's line and caret, usage_error where no function is named, one is a kernel, or takes or
// gives something else than the kernel has. Throws unsupported_error without NVRTC.
std::string own_definition(const own_function& own, const signature& types, int architecture,
                           std::string_view qualifiers);

// The same by a call of the PTX itself, which is linked with the kernel and never translated: CUDA C++ that
// declares the PTX's function.
std::string own_linkage(const own_function& own, const signature& types, std::string_view qualifiers);

// The function as PTX (C's convention, named user_function), of an expression or of CUDA C++. Throws as
// own_definition does.
std::string own_ptx(const own_function& own, const signature& types, int architecture);

// The plainest kernel that calls user_function, for elements and for windows alike: what others are compared
// with.
std::string plain_kernel_text(const signature& types);

}  // namespace lab::udf
