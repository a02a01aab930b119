// CUB's, by the emulator.
#pragma once

#include "common/emulator/program/cub/device.hpp"
