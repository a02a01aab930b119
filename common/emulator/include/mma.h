// Tensor cores: a program that includes this and does not use them compiles; nvcuda is refused with its line.
#pragma once
