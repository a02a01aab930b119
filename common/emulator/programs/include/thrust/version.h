// Thrust's version whose names the emulator has.
#pragma once

#define THRUST_MAJOR_VERSION 3
#define THRUST_MINOR_VERSION 0
#define THRUST_SUBMINOR_VERSION 0
#define THRUST_VERSION 300000
