// Part of nvToolsExt.h here.
#pragma once

#include <nvToolsExt.h>
