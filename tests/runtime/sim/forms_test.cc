// Every form that NVRTC emits is executed by a kernel whose results are checked.
#include <cstdio>
#include <fstream>

#include "absl/strings/str_split.h"
#include "tests/runtime/sim/form_kernels.h"
#include "tests/runtime/sim/run_ptx.h"

namespace onepass::sim {
namespace {

// Columns of the table, the arch whose run has to execute their forms, and how often the
// instruction occurred there.
constexpr const char* kArchs[] = {"compute_80", "compute_90", "compute_100", "compute_90",
                                  "compute_100a"};

struct FormRow {
  std::string form;
  std::set<std::string> archs;
};

std::vector<FormRow> Table() {
  std::vector<FormRow> rows;
  std::ifstream in(ONEPASS_SOURCE_DIR "/tests/cases/sim/forms.tsv");
  EXPECT_TRUE(in.good());
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> cells = absl::StrSplit(line, '\t');
    if (line.empty() || line[0] == '#' || cells.size() < 6) continue;
    FormRow row{cells[0], {}};
    for (size_t i = 0; i < std::size(kArchs); ++i) {
      if (cells[1 + i] != "0") row.archs.insert(kArchs[i]);
    }
    rows.push_back(row);
  }
  return rows;
}

// Not what the simulated GPU offers: a debugger's stop, and memory of several GPUs.
bool IsExcepted(const std::string& form) { return form == "brkpt" || form.starts_with("multimem"); }

TEST(FormsTest, EveryFormOfTheTableIsExecuted) {
  std::map<std::string, std::set<std::string>> executed;
  for (const char* arch : kArchs) {
    if (executed[arch].empty()) executed[arch] = RunFormKernels(arch, {});
  }
  // What holds on every sm_100 holds on the one with more.
  executed["compute_100a"].insert(executed["compute_100"].begin(), executed["compute_100"].end());
  std::printf("%-72s %s\n", "form", "executed for");
  int forms = 0;
  for (const FormRow& row : Table()) {
    if (IsExcepted(row.form)) continue;
    std::string where;
    for (const std::string& arch : row.archs) {
      const bool found = executed[arch].contains(row.form);
      EXPECT_TRUE(found) << row.form << " is not executed for " << arch;
      if (found) where += " " + arch.substr(arch.find('_') + 1);
    }
    std::printf("%-72s%s\n", row.form.c_str(), where.c_str());
    ++forms;
  }
  std::printf("%d forms\n", forms);
  EXPECT_EQ(forms, 481);
}

}  // namespace
}  // namespace onepass::sim
