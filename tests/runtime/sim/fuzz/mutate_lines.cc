#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tests/runtime/sim/fuzz/any_line.h"
#include "tests/runtime/sim/fuzz/mutate.h"

namespace onepass::sim {
namespace {

using Lines = std::vector<std::string>;

Lines LinesOf(const std::string& text) { return absl::StrSplit(text, '\n'); }

size_t Anywhere(const Lines& lines, Random& random) { return random.Below(lines.size()); }

// A place for a new line: mostly one between two instructions.
size_t Between(const Lines& lines, Random& random) {
  const size_t body = std::find(lines.begin(), lines.end(), "{") - lines.begin() + 1;
  size_t at = Anywhere(lines, random);
  if (random.Below(16) == 0) return at;
  const auto ends = [&](const std::string& line) {
    return !line.empty() && std::string_view(";:{}").find(line.back()) != std::string_view::npos;
  };
  for (int tries = 0; tries < 16 && (at < body || !ends(lines[at - 1])); ++tries) {
    at = Anywhere(lines, random);
  }
  return at;
}

// Applies `change` to the lines of the text.
template <class Change>
void ChangeLines(const Mutable& in, Change change) {
  Lines lines = LinesOf(in.text);
  change(lines);
  in.text = absl::StrJoin(lines, "\n");
}

void DeleteLine(const Mutable& in) {
  ChangeLines(in, [&](Lines& lines) { lines.erase(lines.begin() + Anywhere(lines, in.random)); });
}

void RepeatLine(const Mutable& in) {
  ChangeLines(in, [&](Lines& lines) {
    const size_t at = Anywhere(lines, in.random);
    const std::string line = lines[at];
    lines.insert(lines.begin() + at, in.random.Below(8) == 0 ? in.random.Below(300) : 1, line);
  });
}

void SwapLines(const Mutable& in) {
  ChangeLines(in, [&](Lines& lines) {
    std::swap(lines[Anywhere(lines, in.random)], lines[Anywhere(lines, in.random)]);
  });
}

void MoveLines(const Mutable& in) {
  ChangeLines(in, [&](Lines& lines) {
    const size_t from = Anywhere(lines, in.random);
    const size_t count = std::min(in.random.Below(20) + 1, lines.size() - from);
    const Lines moved(lines.begin() + from, lines.begin() + from + count);
    lines.erase(lines.begin() + from, lines.begin() + from + count);
    lines.insert(lines.begin() + (lines.empty() ? 0 : Between(lines, in.random)), moved.begin(),
                 moved.end());
  });
}

void TakeLines(const Mutable& in) {
  const Lines others = LinesOf(in.Other());
  ChangeLines(in, [&](Lines& lines) {
    const size_t from = Anywhere(others, in.random);
    const size_t count = std::min(in.random.Below(8) + 1, others.size() - from);
    lines.insert(lines.begin() + Between(lines, in.random), others.begin() + from,
                 others.begin() + from + count);
  });
}

// A label of the text, or one that is not there.
std::string AnyLabel(const Lines& lines, Random& random) {
  const size_t first = Anywhere(lines, random);
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string line(absl::StripAsciiWhitespace(lines[(first + i) % lines.size()]));
    if (line.ends_with(':')) return line.substr(0, line.size() - 1);
  }
  return "$L__none";
}

void InsertBranch(const Mutable& in) {
  constexpr const char* kGuards[] = {"", "@%p1 ", "@!%p1 ", "@%p2 "};
  ChangeLines(in, [&](Lines& lines) {
    const std::string label = AnyLabel(lines, in.random);
    lines.insert(lines.begin() + Between(lines, in.random),
                 absl::StrCat(kGuards[in.random.Below(4)], "bra ", label, ";"));
  });
}

void LoopHere(const Mutable& in) {
  ChangeLines(in, [&](Lines& lines) {
    const size_t at = Between(lines, in.random);
    const std::string label = absl::StrCat("$loop", in.random.Below(1000));
    const size_t end = std::min(at + in.random.Below(6), lines.size());
    lines.insert(lines.begin() + end, absl::StrCat("bra ", label, ";"));
    lines.insert(lines.begin() + at, label + ":");
  });
}

void InsertLine(const Mutable& in) {
  ChangeLines(in, [&](Lines& lines) {
    const std::string line = AnyLine(AnyLabel(lines, in.random), in.random);
    lines.insert(lines.begin() + Between(lines, in.random), line);
  });
}

constexpr Mutation kMutations[] = {DeleteLine, RepeatLine,   SwapLines, MoveLines,
                                   TakeLines,  InsertBranch, LoopHere,  InsertLine,
                                   InsertLine, TakeLines,    InsertLine};

}  // namespace

std::span<const Mutation> LineMutations() { return kMutations; }

}  // namespace onepass::sim
