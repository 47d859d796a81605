/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_shim.h - the few kernel names that the pure parts of the modules use, for user space
 */
#ifndef _SLUICE_KERNEL_SHIM_H
#define _SLUICE_KERNEL_SHIM_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define S32_MAX		INT32_MAX
#define noinline	__attribute__((__noinline__))
#define __maybe_unused	__attribute__((__unused__))

#ifndef __always_inline
#define __always_inline	inline __attribute__((__always_inline__))
#endif

#ifndef unlikely
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#endif

#define WRITE_ONCE(x, value)	((void)(*(volatile __typeof__(x) *)&(x) = (value)))

static inline unsigned int __ffs64(u64 word)
{
	return __builtin_ctzll(word);
}

static inline unsigned int fls64(u64 word)
{
	return word ? 64 - __builtin_clzll(word) : 0;
}

static inline int fls(unsigned int word)
{
	return word ? 32 - __builtin_clz(word) : 0;
}

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

static inline u64 div64_u64_rem(u64 dividend, u64 divisor, u64 *remainder)
{
	*remainder = dividend % divisor;
	return dividend / divisor;
}

#define min(a, b)	((a) < (b) ? (a) : (b))
#define max(a, b)	((a) > (b) ? (a) : (b))
#define max_t(type, a, b)	((type)(a) > (type)(b) ? (type)(a) : (type)(b))
#define U64_MAX		(~0ULL)
#define NSEC_PER_SEC	1000000000L
#define clamp_t(type, v, low, high)	((type)(v) < (type)(low) ? (type)(low) : \
					 (type)(v) > (type)(high) ? (type)(high) : (type)(v))

static inline u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift)
{
	return (u64)((unsigned __int128)a * b >> shift);
}

#endif
