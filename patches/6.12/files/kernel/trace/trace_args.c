// SPDX-License-Identifier: GPL-2.0-only
/*
 * The arguments of a traced function, as the trace shows them: `(fd=0x3, count=0x10)'.
 *
 * A traced call records the words in which the architecture passes arguments, without
 * knowing which arguments the function has. BTF knows the names and the types, and is
 * asked when the trace is read. The format is that of mainline.
 */
#include <linux/btf.h>
#include <linux/irqflags.h>
#include <linux/kallsyms.h>
#include <linux/trace_seq.h>

#include "trace.h"
#include "trace_btf.h"
#include "trace_output.h"

/* The value, and its name if the enum has one. */
static void args_print_enum(struct trace_seq *s, const struct btf *btf,
			    const struct btf_type *type, unsigned long value)
{
	const struct btf_enum *e = btf_enum(type);

	trace_seq_printf(s, "%ld", value);
	for (unsigned int i = 0; i < btf_vlen(type); i++) {
		if (e[i].val != value)
			continue;
		trace_seq_printf(s, " [%s]", btf_name_by_offset(btf, e[i].name_off));
		return;
	}
}

/* A type that can take several words; returns how many words, also if there are only @nr. */
static unsigned int args_print_words(struct trace_seq *s, const struct btf_type *type,
				     const unsigned long *args, unsigned int nr)
{
	unsigned int words = max(DIV_ROUND_UP(type->size, sizeof(long)), 1UL);

	trace_seq_printf(s, "(%s)[", btf_type_str(type));
	for (unsigned int i = 0; i < min(words, nr); i++)
		trace_seq_printf(s, "%s0x%lx", i ? ":" : "", args[i]);
	trace_seq_puts(s, words > nr ? ":...]" : "]");
	return words;
}

/* Print an argument that begins with the first of @nr words; returns how many words it has. */
static unsigned int args_print_one(struct trace_seq *s, const struct btf *btf,
				   const struct btf_param *param,
				   const unsigned long *args, unsigned int nr)
{
	const struct btf_type *type = btf_type_skip_modifiers(btf, param->type, NULL);
	const char *name = btf_name_by_offset(btf, param->name_off);

	if (name)
		trace_seq_printf(s, "%s=", name);
	switch (type ? BTF_INFO_KIND(type->info) : BTF_KIND_UNKN) {
	case BTF_KIND_UNKN:
		trace_seq_printf(s, "?0x%lx", *args);
		return 1;
	case BTF_KIND_PTR:
		trace_seq_printf(s, "0x%lx", *args);
		return 1;
	case BTF_KIND_INT:
		trace_seq_printf(s, btf_type_is_signed_int(type) ? "%ld" : "0x%lx", *args);
		return 1;
	case BTF_KIND_ENUM:
		args_print_enum(s, btf, type, *args);
		return 1;
	default:
		return args_print_words(s, type, args, nr);
	}
}

static void args_print(struct trace_seq *s, const struct btf *btf,
		       const struct btf_type *proto, const unsigned long *args)
{
	const struct btf_param *param;
	unsigned int used = 0;
	s32 nr;

	param = btf_get_func_param(proto, &nr);
	for (s32 i = 0; param && i < nr && used <= FTRACE_REGS_MAX_ARGS; i++) {
		if (i)
			trace_seq_puts(s, ", ");
		if (used == FTRACE_REGS_MAX_ARGS) {
			trace_seq_puts(s, "...");
			return;
		}
		used += args_print_one(s, btf, &param[i], args + used,
				       FTRACE_REGS_MAX_ARGS - used);
	}
}

/**
 * print_function_args - print the arguments of a traced call
 * @s: where to print
 * @args: FTRACE_REGS_MAX_ARGS words, as recorded by trace_function()
 * @func: an address in the function
 *
 * If BTF does not know the function, only "()" is printed. So it is in a dump of the
 * buffer by a kernel that dies: there BTF could sleep.
 *
 * Context: Any context.
 */
void print_function_args(struct trace_seq *s, unsigned long *args, unsigned long func)
{
	const struct btf_type *proto = NULL;
	char name[KSYM_NAME_LEN];
	struct btf *btf;

	if (!irqs_disabled() && !lookup_symbol_name(func, name))
		proto = btf_find_func_proto(name, &btf);
	trace_seq_puts(s, "(");
	if (proto) {
		args_print(s, btf, proto, args);
		btf_put(btf);
	}
	trace_seq_puts(s, ")");
}
