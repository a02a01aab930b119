// Thrust's, by the emulator.
#pragma once

#include "common/emulator/program/thrust/functional.hpp"
