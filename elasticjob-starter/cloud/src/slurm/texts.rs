//! The messages of what a cluster of Slurm cannot run, and of what the carrier could not do.

elasticjob_syntax::messages! {
    array_too_large(most) =
        "cloud-array-too-large": "an array of the cluster has {most} indexes at most: raise MaxArraySize in slurm.conf";
    no_such_partition(name, known) = "cloud-no-such-partition": "the cluster has no partition '{name}'; it has {known}";
    time_limit_too_long(needs, most) =
        "cloud-time-limit-too-long": "the time limit is {needs} minutes, and the partitions that the job may use have {most} minutes at most";
    too_many_cpus(needs, most) = "cloud-too-many-cpus": "a process needs {needs} CPUs, and the largest node has {most}";
    too_much_memory(needs, most) = "cloud-too-much-memory": "a process needs {needs} MB, and the nodes have {most} MB at most";
    ask_slurm() = "cloud-ask-slurm": "ask Slurm";
    note_stop() = "cloud-note-stop": "note that an item is stopped";
    ask_jobs_to_end() = "cloud-ask-jobs-to-end": "ask the jobs to end";
    cancel_jobs() = "cloud-cancel-jobs": "cancel the jobs of the launch";
}
