// SPDX-License-Identifier: GPL-2.0-only
/* Privileged instructions: with PARAVIRT_XXL the kernel calls a function for each. */
#include <linux/types.h>

#include <asm/paravirt.h>

#include "native.h"

void native_pv_set_pte(pte_t *ptep, pte_t pte);

PV_CALLEE_SAVE_REGS_THUNK(native_pv_save_fl);
PV_CALLEE_SAVE_REGS_THUNK(native_pv_irq_disable);
PV_CALLEE_SAVE_REGS_THUNK(native_pv_irq_enable);

__visible unsigned long native_pv_value(unsigned long val)
{
	return val;
}

PV_CALLEE_SAVE_REGS_THUNK(native_pv_value);

static void nothing(void) { }

struct paravirt_patch_template pv_ops = {
	.irq.save_fl		= PV_CALLEE_SAVE(native_pv_save_fl),
	.irq.irq_disable	= PV_CALLEE_SAVE(native_pv_irq_disable),
	.irq.irq_enable		= PV_CALLEE_SAVE(native_pv_irq_enable),
	.mmu.set_pte		= native_pv_set_pte,
	.mmu.pte_val		= PV_CALLEE_SAVE(native_pv_value),
	.mmu.make_pte		= PV_CALLEE_SAVE(native_pv_value),
	.mmu.enter_mmap		= (void (*)(struct mm_struct *))nothing,
};
