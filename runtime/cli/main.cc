#include <string>
#include <vector>

#include "runtime/cli/command.h"

int main(int argc, char** argv) {
  return onepass::cli::RunProgram(std::vector<std::string>(argv + 1, argv + argc));
}
