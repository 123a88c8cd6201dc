// The words after `onepass COMMAND`, taken apart by the command's own table of flags.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"

namespace onepass::cli {

struct Flag {
  absl::string_view name;   // "--device", "-o"
  absl::string_view value;  // what the value is called in the help; "" for a flag without one
  absl::string_view help;
  bool many = false;  // may be given several times; see GetAll
};

class Arguments {
 public:
  // Flags stand before, after or between the other words, as `--key value` or `--key=value`; after
  // `--` there are none. A lone `-` is a word. Of --check and --no-check the last wins; a flag with
  // a value is given once, unless it may be given many times. kInvalidArgument names the flag.
  static absl::StatusOr<Arguments> Parse(llvm::ArrayRef<std::string> words,
                                         llvm::ArrayRef<Flag> flags);

  const std::vector<std::string>& words() const { return words_; }
  // The words joined again into a problem line: `expr=a + b`, whose quotes the shell took, gets
  // them back.
  std::string Line() const;

  bool Has(absl::string_view flag) const { return values_.contains(std::string(flag)); }
  // The value of a flag, or `otherwise` where it was not given.
  std::string Get(absl::string_view flag, absl::string_view otherwise = "") const;
  // All values of a flag that may stand several times, in their order.
  std::vector<std::string> GetAll(absl::string_view flag) const;
  // A whole number of at least `least`. kInvalidArgument names the flag and the value.
  absl::StatusOr<uint64_t> GetNumber(absl::string_view flag, uint64_t otherwise,
                                     uint64_t least = 0) const;
  // Whether --check or --no-check (for the name "check") stands later; true where neither does.
  bool Enabled(absl::string_view name) const;

 private:
  std::vector<std::string> words_;
  std::map<std::string, std::string> values_;
  std::vector<std::pair<std::string, std::string>> in_order_;  // every flag with its value
};

}  // namespace onepass::cli
