// The rows of the strategy table, one a file in this folder.
#pragma once

#include "codegen/strategy.h"

namespace onepass {

extern const Strategy kFlat;
extern const Strategy kRowPersistentBlock;
extern const Strategy kRowMultiPass;
extern const Strategy kColumnPersistentGrid;
extern const Strategy kColumnMultiPass;

}  // namespace onepass
