// vprintf, __assertfail, and calls through pointers that are none.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/sim/exec.h"
#include "runtime/sim/lane_bytes.h"

namespace onepass::sim {
namespace {

constexpr size_t kLongestString = 64 << 10;
constexpr int kMostDigits = 4;
constexpr size_t kMostPrinted = 64 << 20;  // of one launch, more than any device's buffer holds

// The bytes up to a zero at a global address; what can be read of it.
std::string StringAt(const Warp& warp, uint64_t address) {
  const GlobalMemory::Buffer* buffer = warp.block->launch->memory->Find(address);
  std::string text;
  if (buffer == nullptr || address < buffer->begin) return "(a string at no address)";
  for (uint64_t at = address; at < buffer->end && text.size() < kLongestString; ++at) {
    const char c = static_cast<char>(buffer->host[at - buffer->begin]);
    if (c == '\0') break;
    text.push_back(c);
  }
  return text;
}

// Reads one lane's arguments of a vprintf, each aligned to its size.
class Arguments {
 public:
  Arguments(const Op& op, Warp& warp, int lane, uint64_t address)
      : op_(op), warp_(warp), lane_(lane), address_(address) {}

  // False after a fault.
  bool Take(int64_t bytes, uint64_t& value) {
    const auto size = static_cast<uint64_t>(bytes);
    address_ = (address_ + size - 1) / size * size;
    const uint8_t* from = LaneBytes(op_, warp_, lane_, {address_, bytes, 1, /*store=*/false});
    if (from == nullptr) return false;
    value = 0;
    std::memcpy(&value, from, size);
    address_ += size;
    ++count_;
    return true;
  }
  int count() const { return count_; }

 private:
  const Op& op_;
  Warp& warp_;
  int lane_;
  uint64_t address_;
  int count_ = 0;
};

// One conversion of a format: "%-8.3llx".
struct Conversion {
  std::string flags;  // with width and precision
  bool wide = false;  // l, ll, j, z, t
  char kind = '\0';   // '\0': not a whole conversion
};

// `at` is behind the percent sign; ends behind the conversion. Stars take arguments.
bool Parse(const std::string& format, size_t& at, Arguments& arguments, Conversion& conversion) {
  conversion = {"%", false, '\0'};
  const auto peek = [&] { return at < format.size() ? format[at] : '\0'; };
  int number = 0;  // digits of a width or precision
  for (int digits = 0; at < format.size() && digits < 32; ++at) {
    const char c = peek();
    number = absl::ascii_isdigit(static_cast<unsigned char>(c)) ? number + 1 : 0;
    if (number > kMostDigits) continue;
    if (c == '*') {
      uint64_t value = 0;
      if (!arguments.Take(4, value)) return false;
      const int width = std::clamp(static_cast<int32_t>(value), -4096, 4096);
      absl::StrAppend(&conversion.flags, width);
    } else if (std::string_view("-+ #0.123456789").find(c) != std::string_view::npos) {
      conversion.flags.push_back(c);
      ++digits;
    } else {
      break;
    }
  }
  for (; std::string_view("hljztL").find(peek()) != std::string_view::npos && peek() != '\0';
       ++at) {
    conversion.wide |= peek() != 'h' && peek() != 'L';
  }
  if (at < format.size()) conversion.kind = format[at++];
  return true;
}

// False after a fault.
bool Append(const Warp& warp, const Conversion& conversion, Arguments& arguments,
            std::string& text) {
  char buffer[8192];
  const auto print = [&](const std::string& spec, auto value) {
    if (std::snprintf(buffer, sizeof(buffer), spec.c_str(), value) > 0) text.append(buffer);
  };
  uint64_t value = 0;
  const char kind = conversion.kind;
  if (kind == '%') {
    text.push_back('%');
  } else if (kind == 'd' || kind == 'i') {
    if (!arguments.Take(conversion.wide ? 8 : 4, value)) return false;
    const int64_t number = conversion.wide ? static_cast<int64_t>(value)
                                           : static_cast<int32_t>(static_cast<uint32_t>(value));
    print(conversion.flags + "lld", static_cast<long long>(number));
  } else if (kind != '\0' && std::string_view("uoxX").find(kind) != std::string_view::npos) {
    if (!arguments.Take(conversion.wide ? 8 : 4, value)) return false;
    print(conversion.flags + "ll" + kind, static_cast<unsigned long long>(value));
  } else if (kind == 'c') {
    if (!arguments.Take(4, value)) return false;
    print(conversion.flags + "c", static_cast<int>(value));
  } else if (kind == 'p') {
    if (!arguments.Take(8, value)) return false;
    print(conversion.flags + "p", reinterpret_cast<void*>(value));
  } else if (kind == 's') {
    if (!arguments.Take(8, value)) return false;
    print(conversion.flags + "s", StringAt(warp, value).c_str());
  } else if (kind != '\0' && std::string_view("fFeEgGaA").find(kind) != std::string_view::npos) {
    if (!arguments.Take(8, value)) return false;
    print(conversion.flags + kind, std::bit_cast<double>(value));
  }
  return true;
}

// The text of one lane; false after a fault. `count` gets the number of arguments.
bool FormatLane(const Op& op, Warp& warp, int lane, std::string& text, int& count) {
  const std::string format = StringAt(warp, warp.In<uint64_t>(op.r[1])[lane]);
  Arguments arguments(op, warp, lane, warp.In<uint64_t>(op.r[2])[lane]);
  for (size_t at = 0; at < format.size() && text.size() <= kMostPrinted;) {
    if (format[at] != '%') {
      text.push_back(format[at++]);
      continue;
    }
    Conversion conversion;
    if (!Parse(format, ++at, arguments, conversion)) return false;
    if (!Append(warp, conversion, arguments, text)) return false;
  }
  count = arguments.count();
  return true;
}

// r[0] result, r[1] format, r[2] arguments. Blocks print in the fixed order.
const Op* Print(const Op& op, Warp& warp) {
  if (!warp.serial) return warp.StopAt(op, Stop::kOrdered);
  for (uint32_t left = warp.exec; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    std::string text;
    int count = 0;
    if (!FormatLane(op, warp, lane, text, count)) return nullptr;
    warp.Out<uint32_t>(op.r[0])[lane] = static_cast<uint32_t>(count);
    std::string& printed = *warp.block->launch->printed;
    if (printed.size() + text.size() > kMostPrinted) {
      return Fault(warp, op, 1u << lane, "more than 64 MB have been printed");
    }
    printed.append(text);
  }
  ++warp.block->progress;
  return &op + 1;
}

// r[0] message, r[1] file, r[2] line, r[3] function.
const Op* AssertFail(const Op& op, Warp& warp) {
  const int lane = std::countr_zero(warp.exec);
  const auto text = [&](int i) { return StringAt(warp, warp.In<uint64_t>(op.r[i])[lane]); };
  return Fault(warp, op, warp.exec,
               absl::StrFormat("assertion '%s' failed in %s at %s:%u", text(0), text(3), text(1),
                               warp.In<uint32_t>(op.r[2])[lane]));
}

const Op* NoFunction(const Op& op, Warp& warp) {
  return Fault(warp, op, warp.exec, "a call through a pointer to no function of the call's type");
}

}  // namespace

Pick PrintPick() { return {&Print}; }
Pick AssertPick() { return {&AssertFail}; }
Pick NoFunctionPick() { return {&NoFunction}; }

}  // namespace onepass::sim
