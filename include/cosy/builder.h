/* SPDX-License-Identifier: MIT */
/*
 * builder.h - compounds built by hand, statement by statement, with every
 * construct of FSL-02-01 section 2.3.1.
 *
 *	struct cosy_builder *b = cosy_builder_create("count lines");
 *	int n = cosy_var(b), i = cosy_var(b), lines = cosy_var(b), c = cosy_var(b);
 *
 *	cosy_read(b, n, cosy_int(0), cosy_ptr(buf), cosy_int(sizeof(buf)));
 *	cosy_for(b, i, cosy_int(0), COSY_LT, cosy_ref(n), 1);
 *		cosy_load_from(b, c, cosy_ptr(buf), cosy_ref(i), COSY_U8);
 *		cosy_if(b, cosy_ref(c), COSY_EQ, cosy_int('\n'));
 *			cosy_arith(b, lines, cosy_ref(lines), COSY_ADD, cosy_int(1));
 *		cosy_end(b);
 *	cosy_end(b);
 *	err = cosy_build(cosy, b, &loaded, &error);
 *
 * Variables and values are 64 bits wide.  Statements do not fail one by one: the
 * first mistake is recorded with the statement's number, later statements do
 * nothing, and cosy_compile or cosy_build reports it.
 *
 * A builder belongs to one thread at a time.
 */
#ifndef COSY_BUILDER_H
#define COSY_BUILDER_H

#if defined(COSY_FAST_H) && !defined(__cplusplus)
#error "<cosy/fast.h> has functions of the same names: include either in one C file"
#endif

#include <cosy/cosy.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct cosy_builder;

/* Makes a builder; copies the name, which may be NULL.  NULL without memory. */
struct cosy_builder *cosy_builder_create(const char *name);
void cosy_builder_destroy(struct cosy_builder *b);

/* --- Variables and values ------------------------------------------------------------ */

/*
 * Makes a variable; a negative number after a mistake.  Outside functions it is the
 * 0th, 1st, 2nd, .. word of cosy_run's ctx, begins with what is there and is left there.
 * Inside a function it is local to one activation and begins as 0.
 */
int cosy_var(struct cosy_builder *b);
#define COSY_NO_VAR (-1) /* as `dst`: drop the result */

/* An operand: a value, a reference to a variable, or a variable's address. */
struct cosy_value {
	int64_t value;
	int32_t var;
	uint32_t kind;
};
enum cosy_value_kind { COSY_VALUE_INT, COSY_VALUE_REF, COSY_VALUE_ADDR };

static inline struct cosy_value cosy_int(int64_t value)
{
	struct cosy_value v = {value, COSY_NO_VAR, COSY_VALUE_INT};

	return v;
}

/* The address of a string or buffer of the process, which must outlive every run. */
static inline struct cosy_value cosy_ptr(const volatile void *address)
{
	return cosy_int((int64_t)(intptr_t)address);
}

/* The value that the variable has when the statement is executed. */
static inline struct cosy_value cosy_ref(int var)
{
	struct cosy_value v = {0, var, COSY_VALUE_REF};

	return v;
}

/* The variable's address, for calls that write through a pointer; not for a function's variable. */
static inline struct cosy_value cosy_addr(int var)
{
	struct cosy_value v = {0, var, COSY_VALUE_ADDR};

	return v;
}

/* --- Assignment and arithmetic --------------------------------------------------------- */

/* clang-format off */
enum cosy_operator {
	COSY_ADD, COSY_SUB, COSY_MUL,
	COSY_DIV, COSY_MOD,		/* signed; by 0: 0, and the dividend; overflow wraps */
	COSY_UDIV, COSY_UMOD,		/* unsigned */
	COSY_AND, COSY_OR, COSY_XOR,
	COSY_SHL, COSY_SHR, COSY_USHR,	/* SHR keeps the sign; counts are taken modulo 64 */
	/* Conditions; as arithmetic their result is 0 or 1. */
	COSY_EQ, COSY_NE,
	COSY_LT, COSY_LE, COSY_GT, COSY_GE,		/* signed */
	COSY_ULT, COSY_ULE, COSY_UGT, COSY_UGE,		/* unsigned */
	COSY_TEST,			/* a & b is not 0 */
	COSY_LAND, COSY_LOR,		/* both operands are evaluated */
};
/* clang-format on */

enum cosy_unary_operator { COSY_NEG, COSY_NOT, COSY_LNOT };

/* Widths of memory, and of conversions. */
enum cosy_width { COSY_U8, COSY_S8, COSY_U16, COSY_S16, COSY_U32, COSY_S32, COSY_64 };

/* dst = value */
void cosy_assign(struct cosy_builder *b, int dst, struct cosy_value value);
/* dst = left op right */
void cosy_arith(struct cosy_builder *b, int dst, struct cosy_value left, enum cosy_operator op,
		struct cosy_value right);
/* dst = op value */
void cosy_unary(struct cosy_builder *b, int dst, enum cosy_unary_operator op,
		struct cosy_value value);
/* dst = (width)value */
void cosy_convert(struct cosy_builder *b, int dst, struct cosy_value value, enum cosy_width width);

/* dst = *(width *)((char *)base + offset), and *(width *)((char *)base + offset) = value */
void cosy_load_from(struct cosy_builder *b, int dst, struct cosy_value base,
		    struct cosy_value offset, enum cosy_width width);
void cosy_store_to(struct cosy_builder *b, struct cosy_value base, struct cosy_value offset,
		   enum cosy_width width, struct cosy_value value);

/* --- System calls and operations --------------------------------------------------------- */

/*
 * dst = the result, or a negative errno, of system call `number` (SYS_*) with up
 * to six arguments, or of an operation (COSY_OP_BASE and up).  <cosy/calls.h> has
 * one function for each that is allowed: cosy_read(b, dst, fd, buf, count).
 */
void cosy_call(struct cosy_builder *b, int dst, uint32_t number, unsigned int count,
	       const struct cosy_value *args);

/* --- Control flow ---------------------------------------------------------------------------- */

/* Begin blocks, which cosy_end ends; a cosy_do ends with cosy_do_while. */
void cosy_if(struct cosy_builder *b, struct cosy_value left, enum cosy_operator op,
	     struct cosy_value right);
void cosy_else(struct cosy_builder *b);
void cosy_while(struct cosy_builder *b, struct cosy_value left, enum cosy_operator op,
		struct cosy_value right);
void cosy_do(struct cosy_builder *b);
void cosy_do_while(struct cosy_builder *b, struct cosy_value left, enum cosy_operator op,
		   struct cosy_value right);
/*
 * for (var = from; var op to; var += step): the paper's optimised form.  `to` is
 * evaluated once, and an iteration costs one test at its end.
 */
void cosy_for(struct cosy_builder *b, int var, struct cosy_value from, enum cosy_operator op,
	      struct cosy_value to, int64_t step);
/* Cases fall through, as in C. */
void cosy_switch(struct cosy_builder *b, struct cosy_value value);
void cosy_case(struct cosy_builder *b, int64_t value);
void cosy_default(struct cosy_builder *b);
void cosy_end(struct cosy_builder *b);

void cosy_break(struct cosy_builder *b);    /* out of the innermost loop or switch */
void cosy_continue(struct cosy_builder *b); /* on with the innermost loop */

/* A label belongs to the function that it is made in; goto it before or after placing it. */
int cosy_label(struct cosy_builder *b);
void cosy_place(struct cosy_builder *b, int label);
void cosy_goto(struct cosy_builder *b, int label);

/* Ends the compound, from inside functions too, with this exit value.  Without it that is 0. */
void cosy_stop(struct cosy_builder *b, struct cosy_value value);

/* --- User functions ------------------------------------------------------------------------- */

/*
 * Begins a function of up to five parameters, which cosy_end ends, and returns its number
 * for cosy_invoke.  It can use its own variables and the compound's, and call itself.  At its
 * end it returns 0.
 */
int cosy_function(struct cosy_builder *b, unsigned int params);
/* Do the same in two steps, for functions that call each other. */
int cosy_declare(struct cosy_builder *b, unsigned int params);
void cosy_define(struct cosy_builder *b, int function);
/* Returns the variable that holds parameter `index`, from 0, of the function being defined. */
int cosy_param(struct cosy_builder *b, unsigned int index);
void cosy_return(struct cosy_builder *b, struct cosy_value value);
/* dst = function(args) */
void cosy_invoke(struct cosy_builder *b, int dst, int function, unsigned int count,
		 const struct cosy_value *args);

/* --- Modes and limits ----------------------------------------------------------------------- */

/*
 * Ends the compound after so many steps: calls, returns, loop iterations (FSL-02-01 2.3.1);
 * 0 = no limit.
 */
void cosy_limit_steps(struct cosy_builder *b, uint64_t steps);
/* Ends the compound after so many nanoseconds in the kernel, sleep not counted; 0 = no limit. */
void cosy_limit_time(struct cosy_builder *b, uint64_t ns);
/*
 * From this statement on, a system call that fails, or an operation that makes some, ends the
 * compound: its negative errno is the exit value (FSL-02-01 section 2.4.1), and the number of
 * the statement that failed is in `var`, unless that is COSY_NO_VAR.
 */
void cosy_stop_on_failure(struct cosy_builder *b, int var);
void cosy_go_on_after_failure(struct cosy_builder *b);

/* Sets the source position of the following statements; `cosy dis` and errors show it. */
void cosy_at(struct cosy_builder *b, const char *file, uint32_t line);

/* --- The end -------------------------------------------------------------------------------- */

/* Returns the number of statements so far, which is also that of the last one. */
uint32_t cosy_statement(const struct cosy_builder *b);

/*
 * Writes the compound, *len bytes that the caller frees with free(), and returns it in *ret.
 * -EINVAL with `error` for the first mistake, -E2BIG for one too large, -ENOMEM.  The builder
 * can continue afterwards.
 */
int cosy_compile(struct cosy_builder *b, void **ret, size_t *len, struct cosy_error *error);

/* Makes cosy_compile and cosy_load in one. */
int cosy_build(struct cosy *cosy, struct cosy_builder *b, struct cosy_loaded **ret,
	       struct cosy_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#include <cosy/calls.h>

#endif /* COSY_BUILDER_H */
