//! The messages of what cannot run in pods, and of what the carrier could not do.

elasticjob_syntax::messages! {
    too_many_of_pod(count, most) = "cloud-too-many-of-pod": "is {count}: at most {most} items share a pod";
    no_label(text) =
        "cloud-no-label": "'{text}' is no value of a label: give 1 to 63 letters, digits, '-', '_' and '.', the first and the last of them a letter or a digit";
    several_jobs(total, most, pods) =
        "cloud-several-jobs": "starts all pods of a launch together, and a Job has {pods} pods at most: {total} items would be several Jobs, {most} are one; give fewer items, raise itemsPerProcess, or leave the queue out";
    file_of_host(carrier) =
        "cloud-file-of-host": "names a file of the scheduler's host, which the nodes of {carrier} do not have: use oci: or https:";
    image_missing() = "cloud-image-missing": "is missing: the image with the shell and the tools that the package needs";
    checksum_missing() =
        "cloud-checksum-missing": "has no checksum: each pod fetches the package by itself, and all have to run the same; add #sha256=HEX";
    stop_items() = "cloud-stop-items": "stop the items";
    delete_jobs() = "cloud-delete-jobs": "delete the Jobs of the launch";
    list_pods() = "cloud-list-pods": "list the pods of the job";
}
