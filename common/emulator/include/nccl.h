// NCCL between the emulated devices (LAB_EMULATOR_DEVICES) of one process.
#pragma once

#include "common/emulator/nccl.hpp"
